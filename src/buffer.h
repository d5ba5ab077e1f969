/*
 * buffer.h
 *		Bytes that grow.
 *
 * Like score.c, this file and buffer.c include no server header, because programs outside of the
 * server use them, too.
 */
#ifndef CUDAL1_BUFFER_H
#define CUDAL1_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* all zero: an empty one */
typedef struct Cudal1Buffer
{
	char	   *data;			/* NUL-terminated once something was appended; NULL before */
	size_t		length;
	size_t		size;
	bool		lost;			/* memory was short, and bytes are missing */
} Cudal1Buffer;

extern void cudal1_buffer_append(Cudal1Buffer *buffer, const char *data, size_t length);
extern void cudal1_buffer_free(Cudal1Buffer *buffer);

#endif							/* CUDAL1_BUFFER_H */
