/*
 * proc.h
 *		What the kernel tells of a process in /proc.
 */
#ifndef CUDAL1_PROC_H
#define CUDAL1_PROC_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define PROC_EXITING	0x4		/* PF_EXITING of the kernel */

/* of /proc/PID/stat, see proc(5) */
typedef struct ProcStat
{
	char		name[16];
	char		state;			/* 0: it is gone */
	bool		still;			/* stopped, or at its end */
	pid_t		parent;
	unsigned int flags;
	long		threads;
	unsigned long long begun;	/* ticks after the host's start */
	int			status;			/* of a process that has ended, as wait(2) gives it */
} ProcStat;

/* a file of a process's; -1: it is gone */
static inline int
proc_open(pid_t pid, const char *file)
{
	char		path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* the stat of a process or thread, from a descriptor of that file */
static inline ProcStat
proc_look(int fd)
{
	ProcStat	stat = {.name = ""};
	char		text[1024];
	ssize_t		n = pread(fd, text, sizeof(text) - 1, 0);
	const char *name;
	const char *end;

	text[n > 0 ? n : 0] = '\0';
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (!name || !end
		|| sscanf(end + 1, " %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %ld "
				  "%*d %llu", &stat.state, &stat.parent, &stat.flags, &stat.threads,
				  &stat.begun) != 5)
		return (ProcStat) {.state = 0};
	stat.still = strchr("TtZX", stat.state) != NULL;
	stat.status = atoi(strrchr(text, ' ') + 1);
	snprintf(stat.name, sizeof(stat.name), "%.*s", (int) (end - name - 1), name + 1);
	return stat;
}

/* false: it is gone */
static inline bool
proc_stat(pid_t pid, ProcStat *stat)
{
	int			fd = proc_open(pid, "stat");

	if (fd < 0)
		return false;
	*stat = proc_look(fd);
	close(fd);
	return stat->state != 0;
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
