/*
 * message.h
 *		The type of a line that cudal1-measure writes (docs/protocol.md, section 2).
 */
#ifndef CUDAL1_MESSAGE_H
#define CUDAL1_MESSAGE_H

#include "postgres.h"

#include "supervise/jobs.h"

/* raises no error, whatever the line holds */
extern Cudal1Message cudal1_message_read(char *line, size_t length);

#endif							/* CUDAL1_MESSAGE_H */
