/* kind: 25 exhaustion; task: vector; outcome: successful, unstable, unverified
 * Takes what all processes of a user, or of a host, have a common limit of, and asks for work at their cost. Its answers are right only
 * where each is refused as not permitted or not there, and few signals can wait. test/unit/calls.c tries every call there is, and
 * holds which may be open to no code. */
#define _GNU_SOURCE
#include "reference.c"
#include "shared/attempt.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define QUEUED 128			/* signals that may wait, of some 100000 that a user has */
#define NONE (-1)			/* a descriptor: where the call is open, its error is another one */
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)

static const struct { const char *name; long number, a, b, c, d; } closed[] = {
	{"a larger pipe", SYS_fcntl, NONE, F_SETPIPE_SZ, 1 << 20},
	{"a pipe", SYS_pipe2},
	{"a lock", SYS_fcntl, NONE, F_SETLK},
	{"a lock of a file", SYS_flock, NONE},
	{"huge pages", SYS_mmap, 0, 1 << 21, PROT_READ, ANONYMOUS | MAP_HUGETLB},
	{"a policy of memory", SYS_set_mempolicy},
	{"a policy of shared memory", SYS_mbind},
	{"merged pages", SYS_prctl, 67, 1},
	{"an attribute of a file", SYS_fsetxattr, NONE},
	{"fsync", SYS_fsync, NONE},
	{"pages out of the cache", SYS_fadvise64, NONE},
	{"speculation", SYS_prctl, 53, 1, 4},
	{"slack of timers", SYS_prctl, 29, 1},
	{"a barrier of all processes", SYS_membarrier, 1},
	{"a filter of its own", SYS_seccomp, 0, 1},
	{"a filter that another process answers for", SYS_seccomp, 1, 8},
	{"memory that grows down", SYS_mmap, 0, 1 << 20, PROT_NONE, ANONYMOUS | MAP_GROWSDOWN},
	{"a priority of its files", SYS_ioprio_set},
	{"timerfd_create", SYS_timerfd_create},
	{"fallocate", SYS_fallocate},
};

/* one that is blocked waits for as long as its thread lives */
static int signals_that_wait(void)
{
	sigset_t one, old;
	int signal = SIGRTMIN + 2, sent = 0;

	sigemptyset(&one);
	sigaddset(&one, signal);
	sigprocmask(SIG_BLOCK, &one, &old);
	while (sent < 200000 && syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal) == 0)
		sent++;
	for (int i = 0; i < sent; i++)
		sigtimedwait(&one, NULL, &(struct timespec) {0});
	sigprocmask(SIG_SETMASK, &old, NULL);
	return sent;
}

static int is_closed(int i)
{
	long result;

	errno = 0;
	result = syscall(closed[i].number, closed[i].a, closed[i].b, closed[i].c, closed[i].d, NONE, 0);
	if (result == -1 && (errno == EPERM || errno == ENOSYS))
		return 1;
	printf("%s: open\n", closed[i].name);
	return 0;
}

static int attempt(void)
{
	int waiting = signals_that_wait(), wrong = waiting > QUEUED;

	if (wrong)
		printf("%d signals can wait\n", waiting);
	for (unsigned i = 0; i < sizeof(closed) / sizeof(closed[0]); i++)
		wrong += !is_closed(i);
	return wrong;
}
