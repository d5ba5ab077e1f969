/*
 * key.c
 *		Keys of endpoints: from a file that its owner alone can read, or from the environment. They
 *		never come through standard input.
 */
#define _GNU_SOURCE
#include "generate/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "generate/output.h"

const char *key_file = NULL;

static char *
trim(char *text)
{
	size_t		length;

	text += strspn(text, " \t");
	text[strcspn(text, "\r\n")] = '\0';
	for (length = strlen(text); length > 0 && strchr(" \t", text[length - 1]); length--)
		text[length - 1] = '\0';
	return text;
}

/* the value of NAME = value in the file of keys, malloc'd, or NULL with the reason */
static char *
from_file(const char *path, const char *name, const char **problem)
{
	FILE	   *file = fopen(path, "re");
	struct stat status;
	char	   *line = NULL;
	char	   *found = NULL;
	size_t		room = 0;

	*problem = "the file of keys has none of this name";
	if (file == NULL)
	{
		*problem = "the file of keys cannot be read";
		return NULL;
	}
	if (fstat(fileno(file), &status) < 0 || !S_ISREG(status.st_mode) ||
		(status.st_mode & (status.st_uid == 0 ? 027 : 077)) != 0)
	{
		*problem = "the file of keys can be read by others, so it is not used: chmod 600";
		fclose(file);
		return NULL;
	}
	while (found == NULL && getline(&line, &room, file) > 0)
	{
		char	   *value = strchr(line, '=');

		if (value == NULL)
			continue;
		*value++ = '\0';
		if (strcmp(trim(line), name) == 0)
			found = strdup(trim(value));
	}
	if (line != NULL)
		memset(line, 0, room);
	free(line);
	fclose(file);
	return found;
}

char *
key_find(const char *name, const char **problem)
{
	char	   *variable;
	const char *value;

	if (key_file != NULL)
		return from_file(key_file, name, problem);
	*problem = "there is no file of keys, nor a variable CUDAL1_KEY_<name>";
	if (asprintf(&variable, "CUDAL1_KEY_%s", name) < 0)
		die("out of memory");
	value = getenv(variable);
	free(variable);
	return value == NULL ? NULL : strdup(value);
}
