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

static const Executor *all[MAX_STOPPED];	/* NULL: no entry */
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

void
stopped_noted(const Executor *executor)
{
	int			i = 0;

	stopped_released(executor);
	while (i < MAX_STOPPED && all[i])
		i++;
	if (i < MAX_STOPPED)
		all[i] = executor;
}

void
stopped_released(const Executor *executor)
{
	for (int i = 0; i < MAX_STOPPED; i++)
		if (all[i] == executor)
			all[i] = NULL;
}

static bool
runs(const Executor *executor)
{
	ProcStat	first = proc_look(executor->proc.stat);

	return first.state != 0 && !stopped_whole(&first, executor->pid);
}

StoppedVerdict
stopped_check(void)
{
	bool		guilty[2] = {false, false};
	bool		woken[MAX_STOPPED]; /* they were found running */
	bool		any = false;
	sig_atomic_t before = stopped_continued;

	for (int i = 0; i < MAX_STOPPED; i++)
	{
		woken[i] = all[i] && runs(all[i]);
		if (woken[i])
			syscall(SYS_pidfd_send_signal, all[i]->pidfd, SIGSTOP, NULL, 0);
		any = any || woken[i];
	}
	if (!any)
		return STOPPED_ALL;
	clock_sleep(PATIENCE);
	for (int i = 0; i < MAX_STOPPED; i++)
		if (woken[i])
			guilty[all[i]->hostile] |= look_at_threads(all[i]->pid).alive;
	if (stopped_continued != continued || (guilty[0] && guilty[1]))
	{
		/* a process that resumed them may have done so again since they were stopped here */
		continued = before;
		return STOPPED_ALL;
	}
	return guilty[true] ? STOPPED_NOT_CANDIDATE : guilty[false] ? STOPPED_NOT_REFERENCE
		: STOPPED_ALL;
}
