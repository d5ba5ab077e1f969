/*
 * The lines that cudal1-measure writes (docs/protocol.md, section 2), read just far enough to know what they are.
 */
#ifndef CUDAL1_MESSAGE_H
#define CUDAL1_MESSAGE_H

#include "postgres.h"

#include "supervise/jobs.h"

/* no error leaves it, whatever the line holds */
extern Cudal1Message cudal1_message_read(char *line, size_t length);

#endif							/* CUDAL1_MESSAGE_H */
