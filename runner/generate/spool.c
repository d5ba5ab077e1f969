/*
 * spool.c
 *		Answers that were paid for, kept until the other side has stored them.
 *
 * An answer is a file of the spool before it is reported, and until the other side has stored it.
 * Whichever side dies in between, the next cudal1-generate reports it again.
 */
#define _GNU_SOURCE
#include "generate/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"
#include "generate/output.h"

#define MAX_SPOOLED ((size_t) 64 * 1024 * 1024)

const char *spool_folder = NULL;

static char *
path_of(Attempt attempt, const char *suffix)
{
	char	   *path;

	if (asprintf(&path, "%s/%lld-%lld.%s", spool_folder, attempt.request_id, attempt.number,
				 suffix) < 0)
		die("out of memory");
	return path;
}

void
spool_keep(Attempt attempt, const char *line, size_t length)
{
	char	   *temporary;
	char	   *path;
	int			fd;

	if (spool_folder == NULL)
		return;
	temporary = path_of(attempt, "new");
	path = path_of(attempt, "json");
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	/* without a spool the answer is still reported */
	if (fd < 0 || write(fd, line, length) != (ssize_t) length || rename(temporary, path) < 0)
		fprintf(stderr, "cannot keep an answer in \"%s\": %s\n", spool_folder, strerror(errno));
	if (fd >= 0)
		close(fd);
	free(temporary);
	free(path);
}

void
spool_forget(Attempt attempt)
{
	char	   *path;

	if (spool_folder == NULL)
		return;
	path = path_of(attempt, "json");
	(void) unlink(path);
	free(path);
}

void
spool_replay(void)
{
	DIR		   *folder = opendir(spool_folder);
	struct dirent *entry;

	if (folder == NULL)
	{
		fprintf(stderr, "cannot read the spool \"%s\": %s\n", spool_folder, strerror(errno));
		return;
	}
	while ((entry = readdir(folder)) != NULL)
	{
		const char *suffix = strrchr(entry->d_name, '.');
		char	   *path;
		char	   *line;
		size_t		length;
		FILE	   *file;

		if (suffix == NULL || suffix == entry->d_name || strcmp(suffix, ".json") != 0)
			continue;
		if (asprintf(&path, "%s/%s", spool_folder, entry->d_name) < 0)
			die("out of memory");
		file = fopen(path, "re");
		line = file != NULL ? text_read(file, MAX_SPOOLED, &length) : NULL;
		if (line != NULL && length > 0 && line[length - 1] == '\n')
			output_line(line, length);
		(void) output_flush(true);
		free(line);
		if (file != NULL)
			fclose(file);
		free(path);
	}
	closedir(folder);
}
