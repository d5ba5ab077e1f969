/*
 * message.c
 *		Telling a line of progress from a result, and both from garbage.
 *
 * The worker carries lines from the child to the database and decides nothing about them.  The
 * server's own JSON parser reads the whole line here, so an accepted line is a valid document.  The
 * parser needs no transaction.
 */
#include "postgres.h"

#include "common/jsonapi.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "compat.h"
#include "jobs.h"

typedef struct Reading
{
	JsonLexContext *lexer;
	bool		is_object;
	char	  **expected;		/* place for the next scalar; NULL: it is not kept */
	char	   *type;
	char	   *phase;
	char	   *outcome;
	char	   *job_id;			/* digits */
} Reading;

static CUDAL1_JSON_ACTION
object_start(void *state)
{
	Reading    *reading = state;

	if (reading->lexer->lex_level == 0)
		reading->is_object = true;
	CUDAL1_JSON_CONTINUE;
}

static CUDAL1_JSON_ACTION
field_start(void *state, char *name, bool isnull)
{
	Reading    *reading = state;

	reading->expected = NULL;
	if (reading->lexer->lex_level == 1)
		reading->expected = strcmp(name, "type") == 0 ? &reading->type
			: strcmp(name, "phase") == 0 ? &reading->phase
			: strcmp(name, "outcome") == 0 ? &reading->outcome
			: strcmp(name, "job_id") == 0 ? &reading->job_id : NULL;
	CUDAL1_JSON_CONTINUE;
}

static CUDAL1_JSON_ACTION
scalar(void *state, char *token, JsonTokenType type)
{
	Reading    *reading = state;

	if (reading->expected != NULL && reading->lexer->lex_level == 1
		&& type == (reading->expected == &reading->job_id ? JSON_TOKEN_NUMBER : JSON_TOKEN_STRING))
		*reading->expected = token;
	reading->expected = NULL;
	CUDAL1_JSON_CONTINUE;
}

static bool
is(const char *value, const char *expected)
{
	return value != NULL && strcmp(value, expected) == 0;
}

Cudal1Message
cudal1_message_read(char *line, size_t length)
{
	volatile Cudal1Message message = {.type = CUDAL1_MESSAGE_INVALID};
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context;
	JsonSemAction actions;
	Reading		reading;

	if (memchr(line, '\0', length) != NULL ||
		pg_encoding_verifymbstr(PG_UTF8, line, length) != length)
		return message;

	context = AllocSetContextCreate(caller, "cudal1 message", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	memset(&actions, 0, sizeof(actions));
	memset(&reading, 0, sizeof(reading));
	actions.semstate = &reading;
	actions.object_start = object_start;
	actions.object_field_start = field_start;
	actions.scalar = scalar;
	reading.lexer = cudal1_json_lexer(line, length, PG_UTF8);

	/* the parser returns a code for bad input, but raises an error where a document is too deep */
	PG_TRY();
	{
		if (pg_parse_json(reading.lexer, &actions) == JSON_SUCCESS && reading.is_object)
		{
			if (is(reading.type, "result"))
				message.type = CUDAL1_MESSAGE_RESULT;
			else if (is(reading.type, "progress"))
				message.type = CUDAL1_MESSAGE_PROGRESS;
			message.waiting = is(reading.phase, "waiting");
			message.cancelled = is(reading.outcome, "cancelled");
			message.job_id = reading.job_id != NULL ? strtoll(reading.job_id, NULL, 10) : 0;
		}
	}
	PG_CATCH();
	{
		FlushErrorState();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return message;
}
