/*
 * buffer.c
 *		Bytes that grow.
 */
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

void
cudal1_buffer_append(Cudal1Buffer *buffer, const char *data, size_t length)
{
	if (buffer->length + length + 1 > buffer->size)
	{
		size_t		size = (buffer->length + length + 1) * 2;
		char	   *larger = realloc(buffer->data, size);

		if (!larger)
		{
			buffer->lost = true;
			return;
		}
		buffer->data = larger;
		buffer->size = size;
	}
	if (length > 0)
		memcpy(buffer->data + buffer->length, data, length);
	buffer->length += length;
	buffer->data[buffer->length] = '\0';
}

void
cudal1_buffer_free(Cudal1Buffer *buffer)
{
	free(buffer->data);
	memset(buffer, 0, sizeof(*buffer));
}
