/*
 * guard.c
 *		The filters and limits an executor puts on itself before it loads a candidate.
 *
 * Linked into exec-c, and as libcudal1guard.so loaded by exec_torch.py. The filters are made by the supervisor with libseccomp
 * and arrive as plain BPF, so that nothing of this needs a library inside the sandbox.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guard.h"
#include "random.h"
#include "wire.h"

#define MAX_THREADS 64

static struct sock_fprog program[2];

int
cudal1_guard_read(void)
{
	if (lseek(WIRE_FD_FILTER, 0, SEEK_SET) != 0)
		return -1;
	for (int i = 0; i < 2; i++)
	{
		uint32_t	length;

		if (read(WIRE_FD_FILTER, &length, sizeof(length)) != sizeof(length) || length % sizeof(struct sock_filter) != 0)
			return -1;
		program[i].len = (unsigned short) (length / sizeof(struct sock_filter));
		program[i].filter = malloc(length);
		if (!program[i].filter || read(WIRE_FD_FILTER, program[i].filter, length) != (ssize_t) length)
			return -1;
	}
	return close(WIRE_FD_FILTER);
}

static int
limit(int resource, uint64_t value)
{
	struct rlimit r = {value, value};

	return setrlimit(resource, &r);
}

static int
apply(const struct sock_fprog *filter)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, filter);
}

int
cudal1_guard_enter(uint64_t data_bytes)
{
	/* counted within the sandbox's user namespace, so it bounds this executor's threads alone */
	if (limit(RLIMIT_NPROC, MAX_THREADS) != 0 || limit(RLIMIT_NOFILE, 64) != 0 || limit(RLIMIT_CORE, 0) != 0
		|| limit(RLIMIT_MEMLOCK, 0) != 0)
		return -1;
	if (data_bytes > 0 && limit(RLIMIT_DATA, data_bytes) != 0)
		return -1;
	return apply(&program[0]);
}

int
cudal1_guard_seal(void)
{
	return apply(&program[1]);
}

void
cudal1_guard_fill_normal(float *out, uint64_t n, uint64_t seed)
{
	random_fill_normal(out, n, seed);
}

void
cudal1_guard_fill_uniform(float *out, uint64_t n, uint64_t seed)
{
	random_fill_uniform(out, n, 0.0f, 1.0f, seed);
}
