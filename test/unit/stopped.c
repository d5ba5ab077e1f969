/*
 * stopped.c
 *		Processes that are resumed outside their turn: who is accused, and who is not.
 */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "../../runner/process/stopped.c"

#include "tap.h"

static void
count_signal(int signal)
{
	stopped_continued++;
}

static bool
is_still(const Executor *c)
{
	return proc_look(c->proc.stat).still;
}

/* stopped and noted, as executor_freeze() leaves it */
static void
freeze(const Executor *c)
{
	kill(c->pid, SIGSTOP);
	while (!is_still(c))
		sched_yield();
	stopped_noted(c);
}

static void
begin(Executor *c, bool hostile)
{
	char		path[64];

	*c = (Executor) {.pid = fork(),.hostile = hostile};
	if (c->pid == 0)
		for (;;)
			;
	c->pidfd = (int) syscall(SYS_pidfd_open, c->pid, 0);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int) c->pid);
	c->proc.stat = open(path, O_RDONLY | O_CLOEXEC);
	freeze(c);
}

static void
end(const Executor *c)
{
	stopped_released(c);
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->pidfd);
	close(c->proc.stat);
}

/* another process, which resumes a child and this one whenever it has found the child stopped */
static pid_t
start_waking(const Executor *c, int times)
{
	pid_t		parent = getpid();
	pid_t		pid = fork();

	if (pid != 0)
		return pid;
	for (int i = 0; i < times; i++)
	{
		while (!is_still(c))
			clock_sleep(0.001);
		kill(c->pid, SIGCONT);
		kill(parent, SIGCONT);
	}
	_exit(0);
}

int
main(void)
{
	struct sigaction counted = {.sa_handler = count_signal,.sa_flags = SA_RESTART};
	Executor	reference;
	Executor	candidate;
	pid_t		waking;

	begin(&reference, false);
	begin(&candidate, true);
	sigaction(SIGCONT, &counted, NULL);
	check(stopped_check() == STOPPED_ALL, "stopped processes accuse no side");
	kill(candidate.pid, SIGCONT);
	check(stopped_check() == STOPPED_NOT_CANDIDATE, "a candidate that runs is guilty");
	check(is_still(&candidate), "and is stopped again");
	kill(reference.pid, SIGCONT);
	check(stopped_check() == STOPPED_NOT_REFERENCE, "so is a reference");
	kill(reference.pid, SIGCONT);
	kill(candidate.pid, SIGCONT);
	check(stopped_check() == STOPPED_ALL,
		  "a side that runs with the other was resumed from outside");
	kill(candidate.pid, SIGCONT);
	raise(SIGCONT);
	check(stopped_check() == STOPPED_ALL,
		  "so was one that runs when the supervisor was resumed, too");

	/* it waits for the check to stop the candidate, and resumes it while the check goes on */
	waking = start_waking(&candidate, 2);
	while (is_still(&candidate))
		sched_yield();
	check(stopped_check() == STOPPED_ALL,
		  "one that is resumed from outside in the middle of a look");
	waitpid(waking, NULL, 0);
	check(!is_still(&candidate), "and runs at its end");
	check(stopped_check() == STOPPED_ALL, "is not accused by the next look");
	kill(candidate.pid, SIGCONT);
	check(stopped_check() == STOPPED_NOT_CANDIDATE, "which leaves no excuse for later");
	end(&candidate);
	end(&reference);
	return done();
}
