/*
 * generate.h
 *		The body of a model's answer, in the form of OpenAI's chat completions.
 */
#ifndef CUDAL1_GENERATE_H
#define CUDAL1_GENERATE_H

#include <jansson.h>

#include "src/buffer.h"

/* zero at first, but for limits and the report */
typedef struct Answer
{
	json_int_t	max_text;		/* bytes */
	json_int_t	max_body;
	Cudal1Buffer text;			/* UTF-8 without NUL */
	json_t	   *report;			/* an object: takes detail, finish_reason and counts of tokens */
	const char *outcome;		/* of docs/protocol.md; NULL: more is wanted */
	bool		finished;		/* a reason for the end was given, or a document ended */
	bool		complete;		/* all of it was there, so that only usage and [DONE] may follow */

	/* state of the reader */
	json_int_t	body_bytes;
	Cudal1Buffer line;			/* the line that has not ended yet */
	Cudal1Buffer data;			/* lines of an event that has not ended yet */
	bool		error_event;	/* the event is named "error" */
} Answer;

/* takes a piece of the body; false: the rest is not wanted, and outcome says why */
extern bool answer_feed(Answer *answer, const char *data, size_t length);

/* takes the end of the body; outcome stays NULL where it is not clean and the answer not whole */
extern void answer_end(Answer *answer, bool clean);

/* ends an answer; words: why, or empty */
extern void answer_close(Answer *answer, const char *outcome, const char *words);

#endif							/* CUDAL1_GENERATE_H */
