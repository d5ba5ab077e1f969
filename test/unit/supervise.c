/*
 * supervise.c
 *		What the supervision of measurements writes itself is a result, whatever its reason holds.
 */
#define _GNU_SOURCE
#include <jansson.h>

#include "../../src/buffer.c"
#include "../../src/message.c"
#include "../../supervise/child.c"
#include "../../supervise/jobs.c"
#include "../../supervise/queue.c"
#include "tap.h"

/* the detail that a reason becomes, or NULL if no JSON comes of it; to be freed */
static char *
detail_of(const char *reason)
{
	static Job	job;
	Cudal1Buffer	made = {0};
	json_t	   *document;
	const char *detail;
	char	   *copy;

	job.ending = ENDING_LOST;
	set_reason(&job, reason, "");
	document = json_loads(verdict_of(&job, &made), 0, NULL);
	detail = json_string_value(json_object_get(document, "detail"));
	copy = detail ? strdup(detail) : NULL;
	json_decref(document);
	free(made.data);
	return copy;
}

int
main(void)
{
	char		bytes[128];
	char		text[3 * CUDAL1_MAX_DETAIL];
	char	   *detail;
	size_t		n = 0;

	for (int c = 1; c < 128; c++)
		bytes[n++] = (char) c;
	bytes[n] = '\0';
	detail = detail_of(bytes);
	check(detail && strcmp(detail, bytes) == 0,
		  "every byte of ASCII comes through a string of JSON");
	free(detail);

	/* two bytes a character, from an odd place on */
	text[0] = 'x';
	for (n = 1; n + 2 < sizeof(text); n += 2)
		memcpy(text + n, "\xc3\xa9", 2);
	text[n] = '\0';
	detail = detail_of(text);
	check(detail != NULL, "a reason that is too long is cut between characters");
	check(detail && strlen(detail) <= CUDAL1_MAX_DETAIL && strlen(detail) > CUDAL1_MAX_DETAIL - 4,
		  "and to its limit");
	free(detail);
	return done();
}
