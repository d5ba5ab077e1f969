/*
 * freeze.c
 *		A process that is resumed before it was seen to be stopped is stopped again, and
 *		not taken for one that can't be. And when the clock of a run behind a gate begins.
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

static Reading begun;			/* when a clock began */
static bool ran_before;			/* when the gate was opened */

static void
bring(void *context)
{
	ran_before = begun.wall > 0;
}

/* whether the clock of a run behind a gate has begun when its input is brought */
static bool
charged(bool hostile)
{
	WireControl *control = calloc(1, sizeof(*control));
	Executor	executor = {.control = control,.hostile = hostile,.gate = &(Gate) {.open = bring}};
	bool		opened;

	begun.wall = 0;
	open_gate(&executor, &begun);
	opened = control->gate == 2 && begun.wall > 0;
	free(control);
	return opened && ran_before;
}

/* what becomes of an answer to both runs, where the first one has not said that it is done */
static ExecutorResult
answer_early(void)
{
	WireControl *control = calloc(1, sizeof(*control));
	WireMessage answer = {.status = WIRE_OK};
	Executor	executor;
	ExecutorResult result;
	int			pair[2];

	executor_init(&executor);
	executor.control = control;
	executor.gate = &(Gate) {.open = bring};
	ran_before = false;
	begun.wall = 1;
	if (socket_pair(pair) != 0)
		return EXECUTOR_BROKEN;
	executor.sock = pair[0];
	result = send(pair[1], &answer, sizeof(answer), 0) == sizeof(answer)
		? ask_gated(&executor, WIRE_RUN, 2, WIRE_FLAG_GATED, 0, 5, &begun) : EXECUTOR_BROKEN;
	close(pair[0]);
	close(pair[1]);
	free(control);
	return ran_before ? EXECUTOR_BROKEN : result;
}

int
main(void)
{
	Executor	executor;
	char		path[64];

	check(charged(true) && !charged(false),
		  "the candidate's clock runs while its input is brought, the reference's does not yet");
	check(answer_early() == EXECUTOR_FORGED, "an answer to a run without its input is forged");
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
