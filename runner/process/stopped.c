/*
 * stopped.c
 *		Are the processes that should be stopped really stopped?
 *
 * Filters close every known way in which a process could have itself resumed. For ways that are not
 * known, no thread of a process that should be stopped may be running before a command or a window.
 * Honest code must never be accused, so one that runs is stopped again, and looked at once more:
 *
 * - A process that was being killed is gone by then, or on its way out.
 * - Batch systems and shells resume all processes that they had stopped, or are about to end. Then
 *   the supervisor has got the signal too, or the other side's processes ran as well.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/executor.h"

#define MAX_STOPPED		64
/* seconds, for a process that is being killed to be gone, and for a signal to reach us too */
#define PATIENCE		0.2

typedef struct Stopped
{
	int			pidfd;			/* names it; 0: no entry */
	int			stat_fd;
	pid_t		pid;
	bool		hostile;
	bool		woken;			/* it was found running */
} Stopped;

static Stopped all[MAX_STOPPED];
static sig_atomic_t continued;

volatile sig_atomic_t stopped_continued;

typedef struct Threads
{
	bool		moving;			/* a thread is neither stopped nor at its end */
	bool		alive;			/* a thread is not on its way out */
} Threads;

static Threads
look_at_threads(pid_t pid)
{
	Threads		found = {false, false};
	char		path[288];
	DIR		   *tasks;
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)) != NULL)
	{
		ProcStat	stat;
		int			fd;

		snprintf(path, sizeof(path), "%s/stat", entry->d_name);
		fd = entry->d_name[0] == '.' ? -1 : openat(dirfd(tasks), path, O_RDONLY | O_CLOEXEC);
		/* It is gone, or no thread. */
		if (fd < 0)
			continue;
		stat = proc_look(fd);
		close(fd);
		found.moving |= stat.state != 0 && !stat.still;
		found.alive |= stat.state != 0 && !strchr("ZX", stat.state)
			&& !(stat.flags & PROC_EXITING);
	}
	if (tasks)
		closedir(tasks);
	return found;
}

bool
stopped_whole(const ProcStat *first, pid_t pid)
{
	return first->still && (first->threads == 1 || !look_at_threads(pid).moving);
}

static Stopped *
find(int pidfd)
{
	for (int i = 0; i < MAX_STOPPED; i++)
		if (all[i].pidfd == pidfd)
			return &all[i];
	return NULL;
}

void
stopped_noted(int pidfd, int stat_fd, pid_t pid, bool hostile)
{
	Stopped    *s = find(pidfd);

	s = s ? s : find(0);
	if (s)
		*s = (Stopped) {.pidfd = pidfd,.stat_fd = stat_fd,.pid = pid,.hostile = hostile};
}

void
stopped_released(int pidfd)
{
	Stopped    *s = find(pidfd);

	if (s)
		memset(s, 0, sizeof(*s));
}

static bool
runs(const Stopped *s)
{
	ProcStat	first = proc_look(s->stat_fd);

	return first.state != 0 && !stopped_whole(&first, s->pid);
}

StoppedVerdict
stopped_check(void)
{
	bool		guilty[2] = {false, false};
	bool		any = false;
	sig_atomic_t before = stopped_continued;

	for (int i = 0; i < MAX_STOPPED; i++)
	{
		Stopped    *s = &all[i];

		s->woken = s->pidfd != 0 && runs(s);
		if (s->woken)
			syscall(SYS_pidfd_send_signal, s->pidfd, SIGSTOP, NULL, 0);
		any = any || s->woken;
	}
	if (!any)
		return STOPPED_ALL;
	clock_sleep(PATIENCE);
	for (int i = 0; i < MAX_STOPPED; i++)
		guilty[all[i].hostile] |= all[i].woken && look_at_threads(all[i].pid).alive;
	if (stopped_continued != continued || (guilty[0] && guilty[1]))
	{
		/* a process that resumed them may have done so again since they were stopped here */
		continued = before;
		return STOPPED_ALL;
	}
	return guilty[true] ? STOPPED_NOT_CANDIDATE : guilty[false] ? STOPPED_NOT_REFERENCE
		: STOPPED_ALL;
}
