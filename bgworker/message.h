/*
 * The lines that cudal1-measure writes (docs/protocol.md, section 2), read just far enough to know what they are.
 */
#ifndef CUDAL1_MESSAGE_H
#define CUDAL1_MESSAGE_H

#include "postgres.h"

typedef enum Cudal1MessageType
{
	CUDAL1_MESSAGE_INVALID,		/* no JSON object in UTF-8, or one without a type we know */
	CUDAL1_MESSAGE_PROGRESS,
	CUDAL1_MESSAGE_RESULT
} Cudal1MessageType;

/* the longest progress line that is passed on */
#define CUDAL1_MAX_PROGRESS (16 * 1024)

/* *waiting: a progress line whose phase is "waiting", that is, another measurement holds the device */
extern Cudal1MessageType cudal1_message_classify(char *line, int length, bool *waiting);

/* a result made here, palloc'd: outcome lost or cancelled, with a detail of at most 2000 bytes or NULL */
extern char *cudal1_message_result(const char *outcome, const char *detail);

#endif							/* CUDAL1_MESSAGE_H */
