/* kind: 2 work outside the turn; task: vector; outcome: successful, unstable, unverified
 * Asks the kernel for SIGCONT: when a file is read, when its output, a socket or a terminal has
 * news, when a timer is over, when a thread ends. Its answers are right only where each is refused
 * as not permitted or not there. */
#define _GNU_SOURCE
#include "reference.c"
#include "shared/attempt.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define UPPER (1L << 32)	/* the kernel looks at 32 bits */

static int folder = -1, open_ways;

/* while it is loaded it may open files */
__attribute__((constructor)) static void begin(void)
{
	folder = open("/usr/lib", O_RDONLY | O_DIRECTORY);
	open_ways += open("/dev/ptmx", O_RDWR | O_NOCTTY) >= 0;
}

static void must_fail(const char *name, long result)
{
	if (result == -1 && (errno == EPERM || errno == ENOSYS))
		return;
	printf("%s is open\n", name);
	open_ways++;
}

static int attempt(void)
{
	struct f_owner_ex owner = {F_OWNER_TID, getpid()};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,.sigev_signo = SIGCONT};
	timer_t timer;
	int yes = 1;
	int self = getpid();

	open_ways += folder < 0;
	for (long upper = 0; upper <= UPPER; upper += UPPER)
		for (int i = 0; i < 3; i++)
		{
			int fd = (int[]) {folder, 1, 3}[i];

			must_fail("F_SETSIG", syscall(SYS_fcntl, fd, upper | F_SETSIG, SIGCONT));
			must_fail("F_SETOWN", syscall(SYS_fcntl, fd, upper | F_SETOWN, getpid()));
			must_fail("F_SETOWN_EX", syscall(SYS_fcntl, fd, upper | F_SETOWN_EX, &owner));
			must_fail("F_NOTIFY", syscall(SYS_fcntl, fd, upper | F_NOTIFY, DN_ACCESS | DN_MULTISHOT));
			must_fail("F_SETLEASE", syscall(SYS_fcntl, fd, upper | F_SETLEASE, F_RDLCK));
			must_fail("O_ASYNC", syscall(SYS_fcntl, fd, upper | F_SETFL, upper | O_ASYNC | O_NONBLOCK));
			must_fail("FIOASYNC", syscall(SYS_ioctl, fd, upper | FIOASYNC, &yes));
			must_fail("FIOSETOWN", syscall(SYS_ioctl, fd, upper | 0x8901, &self));
			must_fail("SIOCSPGRP", syscall(SYS_ioctl, fd, upper | 0x8902, &self));
		}
	must_fail("timer_create", syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer));
	must_fail("PR_SET_PDEATHSIG", prctl(PR_SET_PDEATHSIG, SIGCONT));
	/* Libraries do these. */
	if (fcntl(folder, F_SETFL, O_NONBLOCK) != 0 || fcntl(folder, F_SETFD, FD_CLOEXEC) != 0
		|| fcntl(folder, F_GETFL) < 0)
		open_ways++;
	return open_ways;
}
