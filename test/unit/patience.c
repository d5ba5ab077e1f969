/*
 * patience.c
 *		What a build is charged with: its CPU time where it wants a core, else all time.
 */
#define _GNU_SOURCE
#include "../../runner/supervisor/build/patience.c"

#include <signal.h>
#include <sys/wait.h>

#include "tap.h"

volatile sig_atomic_t executor_cancelled;

/* a build that sleeps ends by its limit, without waiting for it here */
bool
sandbox_wait(pid_t pid, double seconds, int *status)
{
	return false;
}

int
main(void)
{
	BuildUse	use = {0};
	BuildUse	seen = {0};
	int			left = MOST_PROCESSES;
	int			status;
	int			begun[2];
	pid_t		child;
	pid_t		worker;
	ProcStat	stat;

	build_charge(&use, 10, 2, true);
	check(use.charged == 2, "a build that waits for a core is charged with its CPU time");
	build_charge(&use, 10, 3, true);
	check(use.charged == 3, "from one look to the next");
	build_charge(&use, 10, 33, true);
	check(use.charged == 13, "of several cores with no more than has passed");
	build_charge(&use, 10, 20, false);
	check(use.charged == 23, "and with all time in which its processes sleep");

	/* a process that waits for its child, which works */
	if (pipe(begun) != 0)
		return 1;
	child = fork();
	if (child == 0)
	{
		pid_t		worker = fork();

		if (worker == 0)
			for (;;)
				;
		(void) !write(begun[1], &worker, sizeof(worker));
		waitpid(worker, &status, 0);
		_exit(0);
	}
	if (read(begun[0], &worker, sizeof(worker)) != sizeof(worker))
		return 1;
	look(worker, &left, &seen);
	check(seen.wants, "a process that works wants a core");
	seen = (BuildUse) {0};
	left = 1;
	look(getpid(), &left, &seen);
	check(left <= 0, "no more processes are looked at than there may be");
	do
	{
		seen = (BuildUse) {0};
		left = MOST_PROCESSES;
		look(child, &left, &seen);
	} while (left > MOST_PROCESSES - 2);
	check(seen.wants, "what a child wants its parent wants");
	kill(worker, SIGKILL);
	waitpid(child, &status, 0);
	check(!build_wait(child, 0.05, &status), "a build ends by its limit");

	/* the kernel says of it what it says of one that waits for a disk */
	child = fork();
	if (child == 0)
	{
		setpgid(0, 0);
		if (vfork() == 0)
			for (;;)
				pause();
		_exit(0);
	}
	/* the child is ready to run at first */
	for (int i = 0; i < 1000; i++)
	{
		seen = (BuildUse) {0};
		left = MOST_PROCESSES;
		look(child, &left, &seen);
		if (left <= MOST_PROCESSES - 2 && proc_stat(child, &stat) && stat.state == 'D'
			&& !seen.wants)
			break;
		usleep(1000);
	}
	check(left <= MOST_PROCESSES - 2 && !seen.wants,
		  "a process whose child sleeps before it calls exec() wants none");
	kill(-child, SIGKILL);
	waitpid(child, &status, 0);
	return done();
}
