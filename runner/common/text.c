/*
 * text.c
 *		Text read from files and programs, and text of other processes made fit for a database.
 */
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of the valid UTF-8 character at data, of which `left` bytes are there; 0: none. */
static size_t
character(const char *data, size_t left)
{
	unsigned char first = (unsigned char) *data;
	size_t		n = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	json_t	   *text = n > 1 && n <= left ? json_stringn(data, n) : NULL;
	bool		valid = n == 1 || text;

	json_decref(text);
	return valid ? n : 0;
}

/* the code unit of an escape \uXXXX at data, -1 if there is none */
static int
code_unit(const char *data, size_t left)
{
	char		digits[5] = "";

	if (left < 6 || data[0] != '\\' || data[1] != 'u')
		return -1;
	memcpy(digits, data + 2, 4);
	return strspn(digits, "0123456789abcdefABCDEF") == 4 ? (int) strtol(digits, NULL, 16) : -1;
}

char *
text_repair(const char *data, size_t length, size_t *repaired_length)
{
	/* a byte becomes three at most */
	char	   *repaired = malloc(length * 3 + 1);
	char	   *out = repaired;
	size_t		i = 0;

	while (repaired != NULL && i < length)
	{
		int			first = code_unit(data + i, length - i);
		int			second = first >= 0xd800 && first <= 0xdbff
			? code_unit(data + i + 6, length - i - 6) : -1;
		bool		pair = second >= 0xdc00 && second <= 0xdfff;
		bool		lone = first == 0 || (first >= 0xd800 && first <= 0xdfff && !pair);
		size_t		n = data[i] == '\0' ? 0 : character(data + i, length - i);

		if (pair)
			n = 12;
		/* the character behind a backslash may itself be broken */
		else if (data[i] == '\\' && i + 1 < length && data[i + 1] > 0)
			n = 2;
		if (n == 0 || lone)
		{
			out = stpcpy(out, lone ? "\\ufffd" : "\xef\xbf\xbd");
			i += lone ? 6 : 1;
			continue;
		}
		memcpy(out, data + i, n);
		out += n;
		i += n;
	}
	if (repaired != NULL)
		*out = '\0';
	*repaired_length = out - repaired;
	return repaired;
}

void
text_clean(char *out, size_t size, const char *in, size_t length)
{
	size_t		o = 0;
	size_t		i = 0;

	while (i < length && in[i] != '\0')
	{
		const unsigned char *c = (const unsigned char *) in + i;
		size_t		n = character(in + i, length - i);

		if (o + (n > 0 ? n : 1) >= size)
			break;
		/* C1 is U+0080 to U+009F, the others are U+200B to U+200F, U+2028 to U+202E, U+206x */
		if (n == 0 || (*c < 0x20 && *c != '\n' && *c != '\t') || *c == 0x7F
			|| (*c == 0xC2 && c[1] < 0xA0)
			|| (*c == 0xE2 && ((c[1] == 0x80 && c[2] >= 0x8B && c[2] <= 0xAE)
							   || (c[1] == 0x81 && c[2] >= 0xA0 && c[2] <= 0xAF))))
		{
			out[o++] = '?';
			i += n > 0 ? n : 1;
			continue;
		}
		for (size_t end = i + n; i < end;)
			out[o++] = in[i++];
	}
	out[o] = '\0';
}

char *
text_read(FILE *file, size_t limit, size_t *length)
{
	char	   *text = malloc(limit + 1);

	*length = text ? fread(text, 1, limit + 1, file) : 0;
	if (text && !ferror(file) && *length <= limit)
	{
		text[*length] = '\0';
		return realloc(text, *length + 1);
	}
	errno = *length > limit ? EFBIG : errno;
	free(text);
	return NULL;
}

bool
text_matches(const char *text, const char *expression, bool any_case)
{
	regex_t		pattern;
	bool		found;

	if (regcomp(&pattern, expression, REG_EXTENDED | REG_NOSUB | (any_case ? REG_ICASE : 0)) != 0)
		return false;
	found = regexec(&pattern, text, 0, NULL, 0) == 0;
	regfree(&pattern);
	return found;
}

bool
text_write(const char *path, const char *text)
{
	int			fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t		length = strlen(text);
	bool		good = fd >= 0 && write(fd, text, length) == (ssize_t) length;

	if (fd >= 0)
		good = close(fd) == 0 && good;
	return good;
}

bool
text_first_line(const char *command, char *text, size_t size)
{
	FILE	   *pipe = popen(command, "r");
	bool		good;

	text[0] = '\0';
	if (!pipe)
		return false;
	good = fgets(text, (int) size, pipe) != NULL;
	text[strcspn(text, "\n")] = '\0';
	return pclose(pipe) == 0 && good;
}
