/*
 * message.h
 *		What a line of cudal1-measure is: progress, a result, or garbage.
 */
#ifndef CUDAL1_MESSAGE_H
#define CUDAL1_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Cudal1Message
{
	enum
	{
		CUDAL1_MESSAGE_INVALID, /* no JSON object, or one of another type */
		CUDAL1_MESSAGE_PROGRESS,
		CUDAL1_MESSAGE_RESULT
	}			type;
	bool		waiting;		/* progress: another measurement holds the device */
	bool		cancelled;		/* result: the program was told to stop */
	int64_t		job_id;			/* job that the message is about; 0: it does not say */
} Cudal1Message;

extern Cudal1Message cudal1_message_read(const char *line, size_t length);

#endif							/* CUDAL1_MESSAGE_H */
