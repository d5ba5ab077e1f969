/*
 * The worker carries lines from the child to the database and decides nothing about them; it only has to tell progress
 * from result, and both from garbage. The server's own JSON parser reads the whole line, so what passes here is a valid
 * document, and no transaction is needed for it.
 */
#include "postgres.h"

#include "common/jsonapi.h"
#include "mb/pg_wchar.h"
#include "utils/json.h"
#include "utils/memutils.h"

#include "compat.h"
#include "message.h"

typedef struct Reading
{
	JsonLexContext *lexer;
	bool		is_object;
	char	  **expected;		/* where the next scalar goes, NULL: nowhere */
	char	   *type;
	char	   *phase;
	char	   *outcome;
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
	if (reading->lexer->lex_level == 1 && strcmp(name, "type") == 0)
		reading->expected = &reading->type;
	else if (reading->lexer->lex_level == 1 && strcmp(name, "phase") == 0)
		reading->expected = &reading->phase;
	else if (reading->lexer->lex_level == 1 && strcmp(name, "outcome") == 0)
		reading->expected = &reading->outcome;
	CUDAL1_JSON_CONTINUE;
}

static CUDAL1_JSON_ACTION
scalar(void *state, char *token, JsonTokenType type)
{
	Reading    *reading = state;

	if (reading->expected != NULL && type == JSON_TOKEN_STRING && reading->lexer->lex_level == 1)
		*reading->expected = token;
	reading->expected = NULL;
	CUDAL1_JSON_CONTINUE;
}

Cudal1Message
cudal1_message_read(char *line, size_t length)
{
	volatile Cudal1Message message = {.type = CUDAL1_MESSAGE_INVALID};
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context;
	JsonSemAction actions;
	Reading		reading;

	if (memchr(line, '\0', length) != NULL || pg_encoding_verifymbstr(PG_UTF8, line, length) != length)
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

	/* the parser reports bad input by its result, but raises an error when a document is nested too deeply */
	PG_TRY();
	{
		if (pg_parse_json(reading.lexer, &actions) == JSON_SUCCESS && reading.is_object && reading.type != NULL)
		{
			if (strcmp(reading.type, "result") == 0)
				message.type = CUDAL1_MESSAGE_RESULT;
			else if (strcmp(reading.type, "progress") == 0)
				message.type = CUDAL1_MESSAGE_PROGRESS;
			message.waiting = reading.phase != NULL && strcmp(reading.phase, "waiting") == 0;
			message.cancelled = reading.outcome != NULL && strcmp(reading.outcome, "cancelled") == 0;
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
