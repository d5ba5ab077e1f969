/*
 * generate.h
 *		Requests to language models: the body of an answer, and requests in flight.
 */
#ifndef CUDAL1_GENERATE_H
#define CUDAL1_GENERATE_H

#include <jansson.h>
#include <stdbool.h>

#include "src/buffer.h"

/* an answer in the form of OpenAI's chat completions; zero at first, but for limits and tokens */
typedef struct Answer
{
	size_t		max_text;		/* bytes */
	size_t		max_body;

	/* results */
	Cudal1Buffer text;			/* UTF-8 without NUL */
	char		finish_reason[64];
	json_int_t	prompt_tokens;	/* -1: not told */
	json_int_t	completion_tokens;
	bool		finished;		/* a reason for the end was given, or a document ended */
	bool		done;			/* the stream said [DONE] */
	/* NULL while more is wanted; then answered, throttled, oversized or broken */
	const char *outcome;
	char		detail[512];

	/* state of the reader */
	size_t		body_bytes;
	Cudal1Buffer line;			/* the line that has not ended yet */
	Cudal1Buffer event;			/* the data of the event that has not ended yet */
	bool		error_event;	/* the event is named "error" */
	int			depth;			/* open braces and brackets of the data */
	bool		quoted;			/* the data ends within a string, */
	bool		escaped;		/* behind a backslash */
} Answer;

/* takes a piece of the body; false: the rest is not wanted, and outcome says why */
extern bool answer_feed(Answer *answer, const char *data, size_t length);

/* whether all of the answer was there, so that only usage and [DONE] may follow */
extern bool answer_complete(const Answer *answer);

/* takes the end of the body: outcome is answered unless something is wrong or missing */
extern void answer_end(Answer *answer);

/* A try of a request. */
typedef struct Attempt
{
	json_int_t	request_id;
	json_int_t	number;
} Attempt;

/* takes the line that a try came to; paid: it has a text */
extern void (*transfer_on_line) (Attempt attempt, const char *line, bool paid);

extern const char *transfer_authorities;	/* NULL: the system's */

/* a descriptor: when it can be read, or so many milliseconds later, transfers are to be served */
extern int	transfer_open(void);
extern int	transfer_serve(void);	/* -1: nothing is in flight */

/* begins a try; key: malloc'd, or NULL; problem: why it can't be sent, or empty */
extern void transfer_begin(const json_t *job, Attempt attempt, char *key, const char *problem);
extern void transfer_cancel(Attempt attempt);

#endif							/* CUDAL1_GENERATE_H */
