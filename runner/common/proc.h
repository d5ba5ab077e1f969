/*
 * proc.h
 *		What the kernel tells of a process in /proc.
 */
#ifndef CUDAL1_PROC_H
#define CUDAL1_PROC_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* of /proc/PID/stat, see proc(5) */
typedef struct ProcStat
{
	char		name[16];
	char		state;
	pid_t		parent;
	unsigned int flags;
	long		threads;
	unsigned long long begun;	/* ticks after the host's start */
	int			status;			/* of a process that has ended, as wait(2) gives it */
} ProcStat;

static inline FILE *
proc_open(pid_t pid, const char *file)
{
	char		path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, file);
	return fopen(path, "re");
}

static inline bool
proc_parse(const char *text, ProcStat *stat)
{
	const char *name = strchr(text, '(');
	const char *end = strrchr(text, ')');

	if (!name || !end
		|| sscanf(end + 1, " %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %ld "
				  "%*d %llu", &stat->state, &stat->parent, &stat->flags, &stat->threads,
				  &stat->begun) != 5)
		return false;
	stat->status = atoi(strrchr(text, ' ') + 1);
	snprintf(stat->name, sizeof(stat->name), "%.*s", (int) (end - name - 1), name + 1);
	return true;
}

/* false: it is gone */
static inline bool
proc_stat(pid_t pid, ProcStat *stat)
{
	FILE	   *file = proc_open(pid, "stat");
	char		text[512];
	bool		good = file && fgets(text, sizeof(text), file) && proc_parse(text, stat);

	if (file)
		fclose(file);
	return good;
}

/*
 * Seconds that a thread was ready to run, but others had its core, from its schedstat; false: there
 * is none.
 */
static inline bool
proc_waited(int schedstat_fd, double *seconds)
{
	char		text[96];
	ssize_t		n = pread(schedstat_fd, text, sizeof(text) - 1, 0);
	unsigned long long waited;

	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "%*u %llu", &waited) != 1)
		return false;
	*seconds = (double) waited * 1e-9;
	return true;
}

#endif							/* CUDAL1_PROC_H */
