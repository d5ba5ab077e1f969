/*
 * stopped.c
 *		Are the processes that should be stopped really stopped?
 *
 * Filters close every known way in which a process could have itself resumed. This file is for ways
 * that are not known: before a block's clock starts, no process that should be stopped may be
 * running, or have used CPU time since it was stopped. Honest code must never be accused, so each
 * finding is looked at again:
 *
 * - A process that is being killed runs for its end.
 * - Batch systems and shells resume all processes that they had stopped, or are about to end. Then
 *   the supervisor gets the signal too, and the other side's processes run as well.
 * - A stopped process is charged some microseconds for leaving its core, or a time slice where the
 *   host of a virtual machine takes the core away in that moment. So CPU time counts only where a
 *   thread got a core again since then, or the kernel doesn't say, and when it comes up several
 *   times.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/proc.h"
#include "process/stopped.h"

#define MAX_STOPPED		64
/* of CPU time, while stopped, that is more than leaving a core takes */
#define WORK_SECONDS	200e-6
#define TIMES			3		/* looks that must find it, for the process to be guilty */
#define WITHIN			64		/* looks, among which these are */
/* seconds, for a process that is being killed to be gone, and for a signal to reach us too */
#define PATIENCE		0.2
#define FLAG_EXITING	0x4		/* PF_EXITING of the kernel */

typedef struct Stopped
{
	int			pidfd;			/* names it; 0: no entry */
	int			stat_fd;
	pid_t		pid;
	bool		hostile;
	bool		should;			/* be stopped now */
	bool		clocked;
	clockid_t	clock;
	double		cpu;			/* seconds it had used when it was stopped */
	int			schedstat_fd;
	uint64_t	turns;			/* how often each thread had got a core by then; 0: not known */
	int			times;			/* that it had used more, in this many looks */
	int			looks;
} Stopped;

static Stopped all[MAX_STOPPED];
static sig_atomic_t continued;

volatile sig_atomic_t stopped_continued;

ProcessState
stopped_look(int stat_fd)
{
	ProcessState state = {.threads = 1};
	ProcStat	stat;
	char		text[512];
	ssize_t		n = pread(stat_fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	if (!proc_parse(text, &stat))
		return state;
	return (ProcessState) {.letter = stat.state, .threads = stat.threads,
		.still = strchr("TtZX", stat.state) != NULL, .exiting = stat.flags & FLAG_EXITING};
}

typedef struct Threads
{
	bool		moving;			/* one is not stopped, nor at its end */
	bool		awake;			/* one of those is not on its way out, either */
	bool		stopped;		/* one is */
} Threads;

/* of the process's next thread, the file of that name; -1: there is none, or it is gone */
static int
next_thread(DIR *tasks, const char *name, pid_t *thread)
{
	struct dirent *entry;
	char		file[288];

	*thread = 0;
	do
		entry = readdir(tasks);
	while (entry && entry->d_name[0] == '.');
	if (!entry)
		return -1;
	*thread = (pid_t) strtol(entry->d_name, NULL, 10);
	snprintf(file, sizeof(file), "%s/%s", entry->d_name, name);
	return openat(dirfd(tasks), file, O_RDONLY | O_CLOEXEC);
}

static DIR *
threads_of(pid_t pid)
{
	char		path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
	return opendir(path);
}

static Threads
look_at_threads(pid_t pid)
{
	Threads		found = {false, false, false};
	DIR		   *tasks = threads_of(pid);
	pid_t		thread;
	int			fd;

	if (!tasks)
		return found;
	while (!found.awake && (fd = next_thread(tasks, "stat", &thread), thread != 0))
	{
		ProcessState state;

		if (fd < 0)
			continue;
		state = stopped_look(fd);
		close(fd);
		found.moving = found.moving || (state.letter != 0 && !state.still);
		found.awake = found.awake || (state.letter != 0 && !state.still && !state.exiting);
		found.stopped = found.stopped || state.letter == 'T' || state.letter == 't';
	}
	closedir(tasks);
	return found;
}

bool
stopped_threads(pid_t pid)
{
	return !look_at_threads(pid).moving;
}

static Stopped *
find(int pidfd)
{
	for (int i = 0; i < MAX_STOPPED; i++)
		if (all[i].pidfd == pidfd)
			return &all[i];
	return NULL;
}

/* 0 where the kernel does not say */
static double
used(const Stopped *s)
{
	struct timespec t;

	return s->clocked && clock_gettime(s->clock, &t) == 0 ? (double) t.tv_sec + (double) t.tv_nsec
		* 1e-9 : 0;
}

/* the last step of splitmix64 */
static uint64_t
mixed(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

/*
 * A number that tells which threads a process has, and how often each got a core; 0: not known. A
 * sum of the latter would not do, because a thread that ends takes its part away.
 */
static uint64_t
turns(const Stopped *s)
{
	uint64_t	all_threads = 0;
	bool		known = true;
	ProcTurns	of;
	DIR		   *tasks;
	pid_t		thread;
	int			fd;

	if (stopped_look(s->stat_fd).threads == 1)
		return proc_turns(s->schedstat_fd, &of) ? of.times : 0;
	tasks = threads_of(s->pid);
	if (!tasks)
		return 0;
	while (known && (fd = next_thread(tasks, "schedstat", &thread), thread != 0))
	{
		known = fd >= 0 && proc_turns(fd, &of) && of.times > 0;
		if (fd >= 0)
			close(fd);
		if (known)
			all_threads += mixed((uint64_t) thread << 40 ^ of.times);
	}
	closedir(tasks);
	return known ? all_threads | 1 : 0;
}

/*
 * A process is seen to be stopped before it has left its core, and uses time until it has; where
 * others' machines share the host, that core may be taken away just then, for milliseconds. Once
 * the clock stands still it has left. Turns are read before, so that one which begins meanwhile is
 * none that it had.
 */
static void
note_use(Stopped *s)
{
	double		deadline = clock_now() + PATIENCE;
	double		before;

	s->turns = turns(s);
	s->cpu = used(s);
	do
	{
		before = s->cpu;
		s->cpu = used(s);
	} while (s->cpu != before && clock_now() < deadline);
	if (s->cpu != before)
		s->turns = 0;
}

/* whether it has used CPU time since it was stopped, other than for leaving its core */
static bool
has_worked(const Stopped *s)
{
	return used(s) - s->cpu > WORK_SECONDS && (s->turns == 0 || turns(s) != s->turns);
}

void
stopped_noted(int pidfd, int stat_fd, int schedstat_fd, pid_t pid, bool hostile)
{
	Stopped    *s = find(pidfd);

	if (!s)
	{
		s = find(0);
		if (!s)
			return;
		*s = (Stopped) {.pidfd = pidfd,.stat_fd = stat_fd,.schedstat_fd = schedstat_fd,
			.pid = pid};
		s->clocked = clock_getcpuclockid(pid, &s->clock) == 0;
	}
	s->hostile = hostile;
	s->should = true;
	note_use(s);
}

void
stopped_released(int pidfd)
{
	Stopped    *s = find(pidfd);

	if (s)
		s->should = false;
}

void
stopped_ended(int pidfd)
{
	Stopped    *s = find(pidfd);

	if (s)
		memset(s, 0, sizeof(*s));
}

static bool
is_suspect(const Stopped *s)
{
	ProcessState state = stopped_look(s->stat_fd);

	return state.letter != 0 && (!state.still || has_worked(s));
}

static bool
has_ended(const Stopped *s)
{
	struct pollfd p = {.fd = s->pidfd,.events = POLLIN};

	return poll(&p, 1, 0) != 0;
}

/* found awake: whether it stays so, and is not about to end */
static bool
stays_awake(const Stopped *s)
{
	double		deadline = clock_now() + PATIENCE;

	while (clock_now() < deadline)
	{
		if (has_ended(s) || !look_at_threads(s->pid).awake)
			return false;
		clock_sleep(0.001);
	}
	return !has_ended(s);
}

/* its first thread may have gone long before the others */
static bool
is_ending(const Stopped *s)
{
	Threads		threads = look_at_threads(s->pid);

	return has_ended(s) || (!threads.awake && !threads.stopped);
}

/* stops it again */
static void
stop(Stopped *s)
{
	double		deadline = clock_now() + PATIENCE;

	syscall(SYS_pidfd_send_signal, s->pidfd, SIGSTOP, NULL, 0);
	while (look_at_threads(s->pid).awake && clock_now() < deadline)
		sched_yield();
	note_use(s);
}

StoppedVerdict
stopped_check(void)
{
	bool		suspect[2] = {false, false};
	bool		guilty[2] = {false, false};
	sig_atomic_t before = stopped_continued;

	for (int i = 0; i < MAX_STOPPED; i++)
	{
		Stopped    *s = &all[i];
		bool		awake;

		if (s->pidfd == 0 || !s->should)
			continue;
		if (s->times > 0 && ++s->looks > WITHIN)
			s->times = s->looks = 0;
		if (!is_suspect(s))
			continue;
		awake = stays_awake(s);
		if (is_ending(s))
			continue;
		suspect[s->hostile] = true;
		/* still running: guilty at once; stopped again: guilty after TIMES occurrences */
		if (awake || ++s->times >= TIMES)
			guilty[s->hostile] = true;
		stop(s);
	}
	if (!suspect[0] && !suspect[1])
		return STOPPED_ALL;
	clock_sleep(PATIENCE / 2);
	if (stopped_continued != continued || (suspect[0] && suspect[1]))
	{
		/* a process that resumed them may have done so again since they were stopped here */
		continued = before;
		for (int i = 0; i < MAX_STOPPED; i++)
			all[i].times = 0;
		return STOPPED_ALL;
	}
	return guilty[true] ? STOPPED_NOT_CANDIDATE : guilty[false] ? STOPPED_NOT_REFERENCE
		: STOPPED_ALL;
}
