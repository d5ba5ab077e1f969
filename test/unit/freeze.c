/*
 * freeze.c
 *		A process that is resumed before it was seen to be stopped is stopped again, and
 *		not taken for one that can't be. And when the clock of a run behind a gate begins.
 */
#define _GNU_SOURCE
#include "../../runner/process/executor.c"
#include "../../runner/process/command.c"
#include "../../runner/process/messages.c"
#include "../../runner/process/zygote.c"
#include <sys/prctl.h>

#define stopped_look look_really
#include "../../runner/process/stopped.c"
#undef stopped_look
#include "../../runner/process/arena.c"
#include "../../runner/common/text.c"

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

/* what starts and ends processes is not tried here */
bool
sandbox_wait(pid_t pid, double seconds, int *status)
{
	return waitpid(pid, status, 0) == pid;
}

uint64_t
random_secret(void)
{
	return 7;
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

static bool
cut(uint64_t turns, bool awake)
{
	Reading		from = {.turns = 5};
	Reading		to = {.turns = 5 + turns};

	return was_preempted(&from, &to, awake);
}

static Reading begun;			/* when a clock began */
static bool ran_before;			/* when the gate was opened */
static bool waited;				/* a process was at work then */
static Executor *closed;		/* whose second run was done */
static bool was_stopped;

static void
bring(void *context)
{
	const Executor *executor = context;

	ran_before = begun.wall > 0;
	waited = executor && !look_really(executor->stat_fd).still;
}

static void
take(void *context)
{
	closed = context;
	was_stopped = look_really(closed->stat_fd).still;
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

static void
start_looking(Executor *executor)
{
	char		path[64];

	executor->pid = child;
	executor->pidfd = (int) syscall(SYS_pidfd_open, child, 0);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int) child);
	executor->stat_fd = open(path, O_RDONLY | O_CLOEXEC);
}

/* what becomes of an answer to two runs of which the process has said that so many are done */
static ExecutorResult
answer_after(uint32_t runs, bool stops)
{
	WireControl *control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE,
								MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	Executor	executor;
	ExecutorResult result = EXECUTOR_BROKEN;
	Reading		times[2] = {{0}};
	int			pair[2];

	executor_init(&executor);
	executor.control = control;
	executor.gate = &(Gate) {.open = bring,.close = take,.context = &executor,.stops = stops};
	closed = NULL;
	if (control == MAP_FAILED || message_pair(pair) != 0)
		return result;
	executor.sock = pair[0];
	child = fork();
	if (child == 0)
	{
		WireMessage answer = {.status = WIRE_OK};

		for (uint32_t run = 1; run <= runs; run++)
		{
			while (((volatile WireControl *) control)->gate < run)
				;
			__atomic_store_n(&control->done, run, __ATOMIC_RELEASE);
		}
		send(pair[1], &answer, sizeof(answer), 0);
		for (;;)
			pause();
	}
	start_looking(&executor);
	wakings = 0;
	result = ask_gated(&executor, WIRE_RUN, 2, WIRE_FLAG_GATED, 0, 5, times);
	if (runs < 2 && (closed || times[1].wall > 0))
		result = EXECUTOR_BROKEN;
	if (runs > 0 && waited == stops)
		result = EXECUTOR_BROKEN;
	if (runs == 2 && (closed != &executor || !was_stopped || executor.frozen
					  || times[1].wall < times[0].wall || times[0].wall == 0))
		result = EXECUTOR_BROKEN;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(executor.pidfd);
	close(executor.stat_fd);
	close(pair[0]);
	close(pair[1]);
	munmap(control, sizeof(*control));
	return result;
}

/* a process that answers when `after` is stopped, or at once, and goes on; or that never answers */
static void
start_answering(Executor *executor, const Executor *after, bool answers)
{
	int			pair[2];

	executor_init(executor);
	if (message_pair(pair) != 0)
		abort();
	executor->sock = pair[0];
	child = fork();
	if (child == 0)
	{
		WireMessage asked;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (recv(pair[1], &asked, sizeof(asked), 0) == sizeof(asked) && answers)
		{
			WireMessage answer = {.nonce = asked.nonce,.op = asked.op,.status = WIRE_OK};

			while (after && !look_really(after->stat_fd).still)
				;
			send(pair[1], &answer, sizeof(answer), 0);
		}
		for (;;)
			;
	}
	close(pair[1]);
	start_looking(executor);
}

/* processes side by side: one answers at once, one when the first is stopped, one never does */
static void
check_side_by_side(void)
{
	Executor	quick;
	Executor	slow;
	Executor	silent;
	Executor   *all_three[] = {&silent, &slow, &quick};

	wakings = 0;
	start_answering(&quick, NULL, true);
	start_answering(&slow, &quick, true);
	start_answering(&silent, NULL, false);
	for (int i = 0; i < 3; i++)
		if (executor_begin(all_three[i], WIRE_LOAD, 1, 0, 0, i == 0 ? 0.5 : 60) != EXECUTOR_OK)
			abort();
	executor_await(all_three, 3);
	check(quick.result == EXECUTOR_OK && slow.result == EXECUTOR_OK && slow.took >= quick.took,
		  "of processes side by side each is stopped when it has answered, before the others have");
	check(silent.result == EXECUTOR_TIMEOUT && silent.took >= 0.5 && quick.took < slow.limit,
		  "and one that does not answer is waited for until its own limit");
	check(quick.frozen && slow.frozen && silent.frozen, "all are stopped then");
	quick.sandbox = quick.pid;
	kill(quick.pid, SIGKILL);
	waitid(P_PID, (id_t) quick.pid, &(siginfo_t) {0}, WEXITED | WNOWAIT);
	check(executor_begin(&quick, WIRE_RUN, 1, 0, 0, 60) == EXECUTOR_ENDED
		  && WIFSIGNALED(quick.wait_status) && WTERMSIG(quick.wait_status) == SIGKILL,
		  "and of one that is killed meanwhile it is known how it ended");
	for (int i = 0; i < 2; i++)
	{
		executor_kill(all_three[i]);
		waitpid(all_three[i]->pid, NULL, 0);
	}
}

/*
 * whether a process that does not answer is excused, where it or the supervisor was stopped or not,
 * or that comes so late
 */
static bool
halted(bool process, bool supervisor, double late)
{
	Executor	silent;
	Executor   *all[] = {&silent};

	wakings = 0;
	start_answering(&silent, NULL, false);
	if (executor_begin(&silent, WIRE_RUN, 1, 0, 0, 0.2) != EXECUTOR_OK)
		abort();
	if (process)
		kill(silent.pid, SIGSTOP);
	stopped_continued = stopped_continued + supervisor;
	silent.begun -= late;
	executor_await(all, 1);
	executor_kill(&silent);
	waitpid(silent.pid, NULL, 0);
	return silent.result == EXECUTOR_TIMEOUT && silent.halted;
}

static void
tell(int sock, uint64_t nonce, int status)
{
	WireMessage message = {.op = WIRE_ENDED, .nonce = nonce, .value = status};

	if (send(sock, &message, sizeof(message), 0) != sizeof(message))
		abort();
}

/* forks that were killed may end after others have begun */
static void
check_ends_of_forks(void)
{
	Zygote		zygote = {.sandbox = 0};
	int			pair[2];

	if (message_pair(pair) != 0)
		abort();
	zygote.sock = pair[0];
	tell(pair[1], 1, SIGKILL);
	tell(pair[1], 2, SIGSEGV);
	check(zygote_fork_status(&zygote, 2) == SIGSEGV,
		  "how a fork ended is told from how others did");
	check(zygote_fork_status(&zygote, 1) == SIGKILL, "which are remembered");
	check(zygote_fork_status(&zygote, 3) == -1, "and of one not heard of nothing is known");
	tell(pair[1], 4, SIGABRT);
	close(pair[1]);
	check(zygote_fork_status(&zygote, 3) == SIGKILL,
		  "unless their parent is gone, with which they were killed");
	check(zygote_fork_status(&zygote, 4) == SIGABRT, "but for what it said before");
	close(pair[0]);
}

int
main(void)
{
	Executor	executor;

	check_ends_of_forks();

	check_side_by_side();
	check(!halted(false, false, 0), "a process that does not answer in time is too slow");
	check(halted(true, false, 0), "but not where others have stopped it");
	check(halted(false, true, 0), "or have stopped all processes, and resumed them");
	check(halted(false, false, 1), "or have paused all of them, so that the supervisor comes late");
	check(charged(true) && !charged(false),
		  "the candidate's clock runs while its input is brought, the reference's does not yet");
	check(answer_after(0, false) == EXECUTOR_FORGED && answer_after(1, false) == EXECUTOR_FORGED,
		  "an answer to runs that are not done is forged");
	check(answer_after(2, false) == EXECUTOR_OK,
		  "the output of a run behind a gate is read while its process is stopped");
	check(answer_after(2, true) == EXECUTOR_OK && answer_after(1, true) == EXECUTOR_FORGED,
		  "and so is its input brought, where that takes long");
	check(block_seconds(0) == 10, "a process that sleeps is charged with it");
	check(block_seconds(4) == 6, "but not with waiting for a core");
	check(block_seconds(9) == 2, "and always with its work");
	check(!cut(2, false) && cut(3, false), "a turn to answer and one to be stopped are its own");
	check(!cut(0, true) && cut(1, true), "none where it has a core at both ends");
	executor_init(&executor);
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	start_looking(&executor);
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
