/*
 * spool.c
 *		What an agent that was killed leaves to the next one.
 *
 * A result is written to disk before the database is asked to store it, and removed when the
 * database has answered; the next agent of the same device and database offers what it finds.
 * Offering twice does no harm: the claim's number makes the queue refuse what it has or has given
 * to another.
 *
 * The folder's lock is held for the agent's life. Its random name is part of the names of all
 * claims made under it, so the agent that holds the lock knows that a claim which bears the name
 * and is not its own is left over, and gives it back at once.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spool.h"

#define ENDING ".result"
#define BEGUN ".begun"

static bool
make_folders(char *path)
{
	for (char *c = path + 1;; c++)
	{
		char		was = *c;

		if (was != '/' && was != '\0')
			continue;
		*c = '\0';
		if (mkdir(path, 0700) != 0 && errno != EEXIST)
		{
			agent_log("cannot make the folder %s: %s", path, strerror(errno));
			*c = was;
			return false;
		}
		*c = was;
		if (was == '\0')
			return true;
	}
}

/* a name for a folder of any text */
static char *
tame(const char *text)
{
	char	   *name = agent_copy(text, strlen(text));

	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char) *c) && *c != '-')
			*c = '_';
	return name;
}

/* the id in the lock file, made by the first agent that locks it */
static bool
read_id(AgentSpool *spool)
{
	unsigned char bytes[16];
	ssize_t		n = pread(spool->lock, spool->id, 32, 0);

	if (n == 32 && strspn(spool->id, "0123456789abcdef") == 32)
		return true;
	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return false;
	for (int i = 0; i < 16; i++)
		snprintf(spool->id + 2 * i, 3, "%02x", bytes[i]);
	return ftruncate(spool->lock, 0) == 0 && pwrite(spool->lock, spool->id, 32, 0) == 32
		&& fsync(spool->lock) == 0;
}

bool
spool_open(AgentSpool *spool, const char *place, const char *device_key)
{
	char	   *host = tame(agent_settings.host);
	char	   *key = tame(device_key);
	char	   *lock;
	bool		good = false;

	spool->lock = -1;
	spool->folder = agent_format("%s/%s/%s/%s", agent_settings.state, place, host, key);
	lock = agent_format("%s/lock", spool->folder);
	free(host);
	free(key);
	if (make_folders(spool->folder))
	{
		spool->lock = open(lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (spool->lock < 0)
			agent_log("cannot open %s: %s", lock, strerror(errno));
		else if (flock(spool->lock, LOCK_EX | LOCK_NB) != 0)
			agent_log("device %s is served by another agent of this host and database (%s is "
					  "locked)", device_key, lock);
		else if (!read_id(spool))
			agent_log("cannot write %s: %s", lock, strerror(errno));
		else
			good = true;
	}
	free(lock);
	if (!good)
	{
		if (spool->lock >= 0)
			close(spool->lock);
		free(spool->folder);
		spool->folder = NULL;
		spool->lock = -1;
	}
	return good;
}

static void
sync_folder(const char *folder)
{
	int			fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void) fsync(fd);
	close(fd);
}

static char *
path_of(const AgentSpool *spool, const Cudal1Claim *claim)
{
	return agent_format("%s/%" PRId64 "-%d" ENDING, spool->folder, claim->job_id, claim->attempt);
}

void
spool_keep(const AgentSpool *spool, const Cudal1Claim *claim, const char *result)
{
	char	   *path = path_of(spool, claim);
	char	   *begun = agent_format("%s" BEGUN, path);
	int			fd = open(begun, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool		good = fd >= 0 && dprintf(fd, "%s", result) > 0 && fsync(fd) == 0;

	if (fd >= 0)
		close(fd);
	if (good && rename(begun, path) == 0)
		sync_folder(spool->folder);
	else
	{
		/* it is in memory still: a full disk loses nothing unless the agent is killed too */
		agent_log("cannot write %s: %s", path, strerror(errno));
		(void) unlink(begun);
	}
	free(begun);
	free(path);
}

void
spool_drop(const AgentSpool *spool, const Cudal1Claim *claim)
{
	char	   *path = path_of(spool, claim);

	(void) unlink(path);
	free(path);
}

static char *
read_result(const char *folder, const char *name)
{
	char	   *path = agent_format("%s/%s", folder, name);
	int			fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	char	   *text = NULL;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= CUDAL1_MAX_LINE)
	{
		text = agent_alloc((size_t) st.st_size + 1);
		if (read(fd, text, (size_t) st.st_size) != st.st_size)
		{
			free(text);
			text = NULL;
		}
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return text;
}

bool
spool_each(const AgentSpool *spool, SpoolVerdict (*settle) (const Cudal1Claim *claim,
															const char *result))
{
	DIR		   *folder = opendir(spool->folder);
	struct dirent *entry;
	SpoolVerdict verdict = SPOOL_SETTLED;
	bool		all = true;

	while (folder && verdict != SPOOL_STOP && (entry = readdir(folder)) != NULL)
	{
		Cudal1Claim claim = {0};
		int			length = 0;
		char	   *text;

		if (sscanf(entry->d_name, "%" SCNd64 "-%d%n", &claim.job_id, &claim.attempt, &length) != 2)
			continue;
		/* of an agent that was killed while it wrote: only the holder of the lock writes here */
		if (strcmp(entry->d_name + length, ENDING BEGUN) == 0)
			(void) unlinkat(dirfd(folder), entry->d_name, 0);
		if (strcmp(entry->d_name + length, ENDING) != 0)
			continue;
		text = read_result(spool->folder, entry->d_name);
		if (text)
		{
			verdict = settle(&claim, text);
			if (verdict == SPOOL_SETTLED)
				spool_drop(spool, &claim);
			all = all && verdict == SPOOL_SETTLED;
		}
		free(text);
	}
	if (folder)
		closedir(folder);
	return all;
}
