/*
 * message.c
 *		Telling a line of progress from a result, and both from garbage.
 *
 * Worker and agent carry lines from the child to the database, and need four members of the
 * outermost object.  A line is not checked beyond these: the database refuses what is no JSON in
 * UTF-8, and a refused result is a lost attempt.
 */
#include <stdlib.h>
#include <string.h>

#include "message.h"

/* where the value of an outermost member begins; NULL: there is none */
static const char *
find(const char *line, const char *name)
{
	int			depth = 0;

	for (const char *at = line; *at; at++)
	{
		if (*at == '"')
		{
			const char *word = ++at;
			const char *after;

			while (*at && *at != '"')
				at += *at == '\\' && at[1] ? 2 : 1;
			if (!*at)
				return NULL;
			after = at + 1 + strspn(at + 1, " \t");
			if (depth == 1 && *after == ':' && (size_t) (at - word) == strlen(name)
				&& strncmp(word, name, strlen(name)) == 0)
				return after + 1 + strspn(after + 1, " \t");
		}
		else
			depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
	}
	return NULL;
}

static bool
is(const char *line, const char *name, const char *value)
{
	const char *at = find(line, name);

	return at && strncmp(at, value, strlen(value)) == 0;
}

Cudal1Message
cudal1_message_read(const char *line, size_t length)
{
	Cudal1Message message = {.type = CUDAL1_MESSAGE_INVALID};
	const char *job_id;

	if (strlen(line) != length || length == 0 || line[0] != '{' || line[length - 1] != '}')
		return message;
	job_id = find(line, "job_id");
	if (is(line, "type", "\"result\""))
		message.type = CUDAL1_MESSAGE_RESULT;
	else if (is(line, "type", "\"progress\""))
		message.type = CUDAL1_MESSAGE_PROGRESS;
	message.waiting = is(line, "phase", "\"waiting\"");
	message.cancelled = is(line, "outcome", "\"cancelled\"");
	message.job_id = job_id ? strtoll(job_id, NULL, 10) : 0;
	return message;
}
