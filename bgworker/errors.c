/*
 * errors.c
 *		What sessions read of an error: no trace through the extension's own functions, and a hint
 *		where a role lacks a grant or a name is mistyped.
 *
 * Most errors are raised on purpose, several calls deep, by functions in PL/pgSQL.  Their CONTEXT
 * would be a dozen lines of internal SQL, which say nothing to the user.  Context of the user's own
 * functions stays.  So does that of an error that nothing raised on purpose, since it is a fault of
 * the extension's and the trace leads to it.
 *
 * emit_log_hook is the one place where a library sees an error after its context was collected.  No
 * catalog may be read there, so hints name the place where a session finds the names.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"

#include "start.h"

#define GRANT_HINT \
	"The owner of the extension gives a role what it needs with SELECT cudal1_grant('ROLE'," \
	" 'KIND'). A trainer adds tasks, submits, waits and reports; an analyst reads; an operator" \
	" also evaluates, imports, withdraws and sets quotas; an agent measures."

#define CALL_HINT \
	"Functions are called in SELECT with parentheses, as in SELECT * FROM cudal1_status(). Tables" \
	" and views are in schema cudal1."

/*
 * Hints for errors that the server raises itself, by the format of their message. %s in a hint is
 * the function's name, or what a mistyped one begins with.
 */
static const struct
{
	int			sqlerrcode;
	const char *message;
	const char *name;			/* what the message or, with a blank before, the statement has */
	const char *hint;
}			hints[] = {
	{ERRCODE_INSUFFICIENT_PRIVILEGE, "permission denied for function %s", "cudal1_", GRANT_HINT},
	{ERRCODE_INSUFFICIENT_PRIVILEGE, "permission denied for function %s", " cudal1.", GRANT_HINT},
	{ERRCODE_INSUFFICIENT_PRIVILEGE, "permission denied for schema %s", "cudal1", GRANT_HINT},
	{ERRCODE_INSUFFICIENT_PRIVILEGE, "permission denied for table %s", " cudal1.",
	"Functions alone write to the tables of cudal1. Analysts read all of them, trainers not"
	" all columns: name those that \\dp shows for the table."},
	{ERRCODE_UNDEFINED_FUNCTION, "function %s does not exist", "cudal1_",
	"\\df %s* lists functions of such a name with their arguments, \\df cudal1_* all."},
	{ERRCODE_INVALID_TEXT_REPRESENTATION, "invalid input syntax for type %s: \"%s\"", " cudal1_",
	"\\df %s lists the arguments in their order. NAME => VALUE gives one by its name."},
	{ERRCODE_UNDEFINED_FUNCTION, "function %s does not exist", "cudal1.",
	"The names of functions for users begin with cudal1_. \\df cudal1_* lists them."},
	{ERRCODE_UNDEFINED_FUNCTION, "procedure %s does not exist", "cudal1_", CALL_HINT},
	{ERRCODE_UNDEFINED_TABLE, "relation \"%s\" does not exist", "cudal1_", CALL_HINT},
	{ERRCODE_UNDEFINED_COLUMN, "column \"%s\" does not exist", "cudal1_", CALL_HINT},
	{ERRCODE_UNDEFINED_COLUMN, "column \"%s\" does not exist", " cudal1_",
	"As an argument of %s a text stands in single quotes."},
	{ERRCODE_UNDEFINED_COLUMN, "column \"%s\" does not exist", " cudal1.",
	"\\d cudal1.NAME lists the columns of a table or view."},
	{ERRCODE_UNDEFINED_TABLE, "relation \"%s.%s\" does not exist", "cudal1.",
	"\\dtv cudal1.* lists the tables and views."},
};

static emit_log_hook_type previous_emit_log = NULL;

/* how the lines begin that open an entry of a function, of which others are the details */
static const char *const function_lines[] = {"PL/pgSQL function ", "SQL function \""};

/* whether the name in a line of context is that of a function of ours */
static bool
is_ours(const char *name)
{
	const char *end = name + strcspn(name, "(\"\n ");
	const char *last = name;

	for (const char *p = name; p < end; p++)
		if (*p == '.')
			last = p + 1;
	return strncmp(name, "cudal1.", 7) == 0 || strncmp(last, "cudal1_", 7) == 0;
}

/*
 * The context without what the calls of our own functions have added: all down to the outermost of
 * them, and the statement by which a function of ours in C called it.
 */
static char *
without_ours(char *context)
{
	const char *statement = "SQL statement \"SELECT cudal1.";
	char	   *rest = context;

	for (char *line = context; line != NULL && *line != '\0';)
	{
		char	   *newline = strchr(line, '\n');
		char	   *next = newline != NULL ? newline + 1 : NULL;

		for (int i = 0; i < lengthof(function_lines); i++)
		{
			size_t		length = strlen(function_lines[i]);

			if (strncmp(line, function_lines[i], length) == 0 && is_ours(line + length))
				rest = next;
		}
		line = next;
	}
	if (rest != NULL && rest != context && strncmp(rest, statement, strlen(statement)) == 0)
	{
		rest = strchr(rest, '\n');
		if (rest != NULL)
			rest++;
	}
	return rest;
}

static bool
raised_on_purpose(const ErrorData *edata)
{
	/* by RAISE */
	if (edata->funcname != NULL && strcmp(edata->funcname, "exec_stmt_raise") == 0)
		return true;
	/* with a code with which functions in C refuse what a user gives them */
	return edata->sqlerrcode == ERRCODE_INSUFFICIENT_PRIVILEGE ||
		edata->sqlerrcode == ERRCODE_INVALID_PARAMETER_VALUE ||
		edata->sqlerrcode == ERRCODE_NULL_VALUE_NOT_ALLOWED ||
		edata->sqlerrcode == ERRCODE_UNDEFINED_OBJECT ||
		edata->sqlerrcode == ERRCODE_CONFIGURATION_LIMIT_EXCEEDED;
}

/* the last function of ours in the text before its end, if its parenthesis is open there */
static const char *
open_function(const char *text, const char *end)
{
	const char *last = NULL;
	int			depth = 0;

	for (const char *at = text; (at = strstr(at, "cudal1_")) != NULL && at < end; at++)
		last = at;
	for (const char *at = last; at != NULL && at < end; at++)
		depth += (*at == '(') - (*at == ')');
	return depth > 0 ? last : NULL;
}

/* a hint with the name of the function */
static const char *
hint_with_name(const char *hint, const ErrorData *edata)
{
	const char *statement = debug_query_string;
	const char *name = NULL;
	int			length;

	if (edata->sqlerrcode == ERRCODE_UNDEFINED_FUNCTION)
		name = strstr(edata->message, "cudal1_");
	else if (edata->cursorpos > 0)
		/* which counts characters */
		name = open_function(statement, statement + pg_mbcharcliplen(statement, strlen(statement),
																	 edata->cursorpos - 1));
	if (name == NULL)
		return NULL;
	length = strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789");
	/* of a name that may be mistyped its first four letters, since most slips are behind them */
	if (edata->sqlerrcode == ERRCODE_UNDEFINED_FUNCTION)
		length = Min(length, strlen("cudal1_") + 4);
	return psprintf(hint, psprintf("%.*s", length, name));
}

static const char *
hint_for(const ErrorData *edata)
{
	if (edata->message == NULL || edata->message_id == NULL)
		return NULL;
	for (int i = 0; i < lengthof(hints); i++)
	{
		const char *where = hints[i].name[0] == ' ' ? debug_query_string : edata->message;
		const char *hint = hints[i].hint;

		if (edata->sqlerrcode != hints[i].sqlerrcode || where == NULL ||
			strcmp(edata->message_id, hints[i].message) != 0 ||
			strstr(where, hints[i].name) == NULL)
			continue;
		/* the server's own names a column that is near */
		if (hints[i].sqlerrcode == ERRCODE_UNDEFINED_COLUMN && edata->hint != NULL)
			return NULL;
		if (strstr(hint, "%s") != NULL)
			hint = hint_with_name(hint, edata);
		if (hint != NULL)
			return hint;
	}
	return NULL;
}

static void
emit_log(ErrorData *edata)
{
	const char *hint;

	/* a worker's error goes to the log alone, where its trace helps */
	if (MyBackendType == B_BACKEND)
	{
		if (edata->elevel >= ERROR && edata->context != NULL && raised_on_purpose(edata))
			edata->context = without_ours(edata->context);
		hint = hint_for(edata);
		if (hint != NULL)
			edata->hint = MemoryContextStrdup(edata->assoc_context, hint);
	}
	if (previous_emit_log)
		previous_emit_log(edata);
}

void
cudal1_errors_install(void)
{
	previous_emit_log = emit_log_hook;
	emit_log_hook = emit_log;
}
