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

bool
cudal1_buffer_take_lines(Cudal1Buffer *buffer, void *owner,
						 bool (*take) (void *owner, const char *line, size_t length))
{
	char	   *start = buffer->data;
	char	   *end;
	size_t		left = buffer->length;
	bool		taken = true;

	while (taken && left > 0 && (end = memchr(start, '\n', left)) != NULL)
	{
		taken = take(owner, start, (size_t) (end - start));
		left -= (size_t) (end - start) + 1;
		start = end + 1;
	}
	if (left < buffer->length)
	{
		memmove(buffer->data, start, left);
		buffer->data[left] = '\0';
	}
	buffer->length = left;
	return taken;
}
