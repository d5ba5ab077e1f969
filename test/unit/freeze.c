/*
 * freeze.c
 *		A process that is resumed before it was seen to be stopped is stopped again, and
 *		not taken for one that can't be.
 */
#define _GNU_SOURCE
#include "../../runner/process/executor.c"

#define stopped_look look_really
#include "../../runner/process/stopped.c"
#undef stopped_look
#include "../../runner/process/arena.c"
#include "../../runner/common/text.c"

#include "executor_alone.h"
#include "tap.h"

static pid_t child;
static int	wakings;			/* before as many looks it is woken */

ProcessState
stopped_look(int stat_fd)
{
	if (wakings-- > 0)
		kill(child, SIGCONT);
	return look_really(stat_fd);
}

/* what executor.c does elsewhere is not tried here */
size_t
tensor_dtype_size(uint32_t dtype)
{
	abort();
}

bool
tensor_span(const Tensor *layout, const int64_t *stride, uint64_t *span)
{
	abort();
}

/* seconds of a block that takes 10 s, of which others had a core for `delay`, with 2 s of work */
static double
block_seconds(double delay)
{
	Executor	executor = {.one_core = true};
	Reading		from = {.wall = 1,.cpu = 1,.delay = 1};
	Reading		to = {.wall = 11,.cpu = 3,.delay = 1 + delay};

	return reading_seconds(&executor, &from, &to);
}

int
main(void)
{
	Executor	executor;
	char		path[64];

	check(block_seconds(0) == 10, "a process that sleeps is charged with it");
	check(block_seconds(4) == 6, "but not with waiting for a core");
	check(block_seconds(9) == 2, "and always with its work");
	executor_init(&executor);
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	executor.pid = child;
	executor.pidfd = (int) syscall(SYS_pidfd_open, child, 0);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int) child);
	executor.stat_fd = open(path, O_RDONLY | O_CLOEXEC);
	wakings = 0;
	check(executor_freeze(&executor) == EXECUTOR_OK && executor.frozen, "a process is stopped");
	check(executor_thaw(&executor) == EXECUTOR_OK && !executor.frozen, "and goes on");
	wakings = 1;
	check(executor_freeze(&executor) == EXECUTOR_OK && look_really(executor.stat_fd).still,
		  "one that is woken before it was seen to stop is stopped again");
	executor_thaw(&executor);
	wakings = 100;
	check(executor_freeze(&executor) == EXECUTOR_OK && look_really(executor.stat_fd).still,
		  "as often as it takes");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	executor.frozen = false;
	check(executor_freeze(&executor) == EXECUTOR_ENDED, "one that is gone is not");
	return done();
}
