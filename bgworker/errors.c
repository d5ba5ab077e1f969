/*
 * errors.c
 *		What sessions read of an error: no trace through the extension's own functions, and a hint
 *		where a role lacks a grant.
 *
 * Most errors are raised on purpose, several calls deep, by functions in PL/pgSQL.  Their CONTEXT
 * would be a dozen lines of internal SQL, which say nothing to the user.  Context of the user's own
 * functions stays.  So does that of an error that nothing raised on purpose, since it is a fault of
 * the extension's and the trace leads to it.
 *
 * emit_log_hook is the one place where a library sees an error after its context was collected.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "errors.h"

#define GRANT_HINT \
	"The owner of the extension gives a role what it needs with SELECT cudal1_grant('ROLE'," \
	" 'trainer'); other kinds are analyst, operator and agent."

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
	{
		if (*p == '.')
			last = p + 1;
	}
	return strncmp(name, "cudal1.", 7) == 0 || strncmp(last, "cudal1_", 7) == 0;
}

/* the context without what the calls of our own functions have added, from the innermost on */
static char *
without_ours(char *context)
{
	char	   *rest = context;

	for (char *line = context; line != NULL && *line != '\0';)
	{
		char	   *newline = strchr(line, '\n');
		char	   *next = newline != NULL ? newline + 1 : NULL;

		for (int i = 0; i < lengthof(function_lines); i++)
		{
			size_t		length = strlen(function_lines[i]);

			if (strncmp(line, function_lines[i], length) != 0)
				continue;
			if (!is_ours(line + length))
				return rest;
			rest = next;
		}
		line = next;
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

static bool
lacks_grant(const ErrorData *edata)
{
	return edata->sqlerrcode == ERRCODE_INSUFFICIENT_PRIVILEGE && edata->hint == NULL &&
		edata->message != NULL && edata->message_id != NULL &&
		((strcmp(edata->message_id, "permission denied for function %s") == 0 &&
		  strstr(edata->message, "cudal1_") != NULL) ||
		 (strcmp(edata->message_id, "permission denied for schema %s") == 0 &&
		  strstr(edata->message, "cudal1") != NULL));
}

static void
emit_log(ErrorData *edata)
{
	/* a worker's error goes to the log alone, where its trace helps */
	if (MyBackendType == B_BACKEND)
	{
		if (edata->elevel >= ERROR && edata->context != NULL && raised_on_purpose(edata))
			edata->context = without_ours(edata->context);
		if (lacks_grant(edata))
			edata->hint = MemoryContextStrdup(edata->assoc_context, GRANT_HINT);
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
