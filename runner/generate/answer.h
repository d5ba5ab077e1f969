/*
 * The body of an answer in the form of OpenAI's chat completions, whole or as a stream of
 * server-sent events, fed in pieces as they arrive. Nothing here trusts the body: lengths are
 * bounded, broken UTF-8 and lone surrogates become U+FFFD, as does NUL, which a database's text
 * cannot hold.
 */
#ifndef CUDAL1_ANSWER_H
#define CUDAL1_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "src/buffer.h"

/* ends the program where memory is short */
extern void cudal1_answer_append(Cudal1Buffer *buffer, const char *data, size_t length);

typedef struct Answer
{
	size_t		max_text;		/* bytes of the model's text */
	size_t		max_body;		/* bytes of the body */
	bool		events;			/* server-sent events, else one JSON document */
	Cudal1Buffer raw;			/* an unfinished line of a stream, or the document so far */
	Cudal1Buffer event;			/* data lines of the event so far */
	Cudal1Buffer text;
	size_t		body_bytes;
	char		finish_reason[64];
	long long	prompt_tokens;	/* -1: not told */
	long long	completion_tokens;
	bool		finished;		/* a reason for its end was given */
	bool		done;			/* the stream said [DONE] */
	/* NULL as long as more is wanted; then answered, oversized or broken */
	const char *outcome;
	char		detail[512];
} Answer;

extern void cudal1_answer_begin(Answer *answer, size_t max_text, size_t max_body);

/* false: the rest is not wanted, outcome says why */
extern bool cudal1_answer_feed(Answer *answer, const char *data, size_t length);

/* the body has ended: sets outcome to answered unless something is wrong or missing */
extern void cudal1_answer_end(Answer *answer);
extern void cudal1_answer_free(Answer *answer);

/*
 * a copy of a text made fit for JSON and database, malloc'd and NUL-terminated; escapes: also
 * repairs lone \u surrogates
 */
extern char *cudal1_text_repair(const char *data, size_t length, bool escapes,
								size_t *repaired_length);

#endif							/* CUDAL1_ANSWER_H */
