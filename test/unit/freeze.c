/*
 * freeze.c
 *		A process that is resumed before it was seen to be stopped is stopped again, and
 *		not taken for one that can't be. And what a window asks of a process and hears from it.
 */
#define _GNU_SOURCE
#include "../../runner/common/proc.h"

static ProcStat look_awake(int fd);

#define proc_look look_awake
#include "../../runner/process/executor.c"

static int	signals;			/* so many calls of poll() are ended by one */
static double nap = 0.01;		/* seconds of a window's first run, and of its limit */
static double limit = 5;
#define poll(fds, n, timeout) (signals > 0 && signals-- ? -1 : poll(fds, n, timeout))
#include "../../runner/process/command.c"
#include "../../runner/process/messages.c"
#include <sys/prctl.h>
#undef proc_look
#include "../../runner/process/stopped.c"
#include "../../runner/process/arena.c"
#include "../../runner/common/text.c"
#include "../../runner/common/random.c"

#include "tap.h"

static pid_t child;
static int	wakings;			/* before as many looks it is woken */

static ProcStat
look_awake(int fd)
{
	if (wakings-- > 0)
		kill(child, SIGCONT);
	return proc_look(fd);
}

/* what starts and ends processes is not tried here */
bool
sandbox_wait(pid_t pid, double seconds, int *status)
{
	return waitpid(pid, status, 0) == pid;
}

/* seconds of a run that takes 10 s, of which others had a core for `delay`, with 2 s of work */
static double
run_seconds(double delay)
{
	Executor	executor = {.one_core = true};
	Reading		from = {.wall = 1,.cpu = 1,.delay = 1};
	Reading		to = {.wall = 11,.cpu = 3,.delay = 1 + delay};

	return reading_seconds(&executor, &from, &to);
}

static void
start_looking(Executor *executor)
{
	char		path[64];

	executor->pid = child;
	executor->pidfd = (int) syscall(SYS_pidfd_open, child, 0);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int) child);
	executor->proc.stat = open(path, O_RDONLY | O_CLOEXEC);
}

/*
 * A window of two runs. The process does `runs` of them when their gates open, and then answers
 * with the nonce it was asked with, or another if it is not honest. `seen`: how many runs were
 * answered.
 */
static ExecutorResult
window(int runs, bool honest, int *seen)
{
	WireControl *control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE,
								MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	Executor	executor;
	ExecutorResult result;
	int			pair[2];

	executor_init(&executor);
	executor.control = control;
	*seen = 0;
	if (control == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0)
		abort();
	executor.sock = pair[0];
	child = fork();
	if (child == 0)
	{
		WireMessage asked;
		WireMessage answer = {.status = WIRE_OK};

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (recv(pair[1], &asked, sizeof(asked), 0) == sizeof(asked))
		{
			answer.op = asked.op;
			answer.nonce = honest ? asked.nonce : asked.nonce + 1;
		}
		__atomic_store_n(&control->ready, 1, __ATOMIC_RELEASE);
		for (uint32_t run = 1; run <= (uint32_t) runs; run++)
		{
			while (__atomic_load_n(&control->gate, __ATOMIC_ACQUIRE) < run)
				;
			clock_sleep(run == 1 ? nap : 0);
			__atomic_store_n(&control->ready, run + 1, __ATOMIC_RELEASE);
		}
		while (runs == 2 && __atomic_load_n(&control->gate, __ATOMIC_ACQUIRE) != WIRE_GATE_END)
			;
		send(pair[1], &answer, sizeof(answer), 0);
		for (;;)
			pause();
	}
	start_looking(&executor);
	wakings = 0;
	result = executor_begin_window(&executor, 2, 0, limit);
	for (uint32_t run = 0; result == EXECUTOR_OK && run < 2; run++)
	{
		executor_open_gate(&executor, run + 1);
		if (!executor_await_run(&executor, run))
			break;
		++*seen;
	}
	if (result == EXECUTOR_OK)
		result = executor_end_window(&executor, *seen == 2);
	if (result == EXECUTOR_OK && !proc_look(executor.proc.stat).still)
		result = EXECUTOR_BROKEN;
	executor_kill(&executor);
	waitpid(child, NULL, 0);
	close(executor.pidfd);
	close(executor.proc.stat);
	close(pair[0]);
	close(pair[1]);
	munmap(control, sizeof(*control));
	return result;
}

static void
check_window(void)
{
	int			seen;

	signals = 2;
	check(window(2, true, &seen) == EXECUTOR_OK && seen == 2 && signals == 0,
		  "a window has its runs one by one, in spite of signals, and leaves the process stopped");
	check(window(0, true, &seen) == EXECUTOR_FORGED && seen == 0
		  && window(1, true, &seen) == EXECUTOR_FORGED && seen == 1,
		  "an answer to runs that are not done is forged");
	check(window(2, false, &seen) == EXECUTOR_FORGED,
		  "and so is one by a process that was not asked");
	limit = 0.05;
	nap = 0.055;
	check(window(2, true, &seen) == EXECUTOR_TIMEOUT && seen == 0, "a late answer is not");
}

/* a process that answers when `after` is stopped, or at once, and goes on; or that never answers */
static void
start_answering(Executor *executor, const Executor *after, bool answers)
{
	int			pair[2];

	executor_init(executor);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0)
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

			while (after && !proc_look(after->proc.stat).still)
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
	check(quick.last.result == EXECUTOR_OK && slow.last.result == EXECUTOR_OK
		  && slow.last.took >= quick.last.took,
		  "of processes side by side each is stopped when it has answered, before the others have");
	check(silent.last.result == EXECUTOR_TIMEOUT && silent.last.took >= 0.5
		  && quick.last.took < slow.last.limit,
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
	silent.last.begun -= late;
	executor_await(all, 1);
	executor_kill(&silent);
	waitpid(silent.pid, NULL, 0);
	return silent.last.result == EXECUTOR_TIMEOUT && silent.last.halted;
}

/* how a fork of a zygote ended, as far as it is known */
static int
end_of_fork(Executor *executor)
{
	Executor	zygote = {.sock = -1};

	executor->zygote = &zygote;
	executor->ended = false;
	executor_find_end(executor);
	return executor->wait_status;
}

static void
check_ends_of_forks(void)
{
	Executor	executor = {.sandbox = 0};

	child = fork();
	if (child == 0)
		pause();
	start_looking(&executor);
	check(end_of_fork(&executor) == -1, "of a fork that goes on no end is known");
	kill(child, SIGSEGV);
	check(end_of_fork(&executor) == SIGSEGV, "of one that was killed the signal is");
	waitpid(child, NULL, 0);
	check(end_of_fork(&executor) == SIGKILL, "and one whose parent is gone was killed with it");
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
	check_window();
	check(run_seconds(0) == 10, "a process that sleeps is charged with it");
	check(run_seconds(4) == 6, "but not with waiting for a core");
	check(run_seconds(9) == 2, "and always with its work");
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
	check(executor_freeze(&executor) == EXECUTOR_OK && proc_look(executor.proc.stat).still,
		  "one that is woken before it was seen to stop is stopped again");
	executor_thaw(&executor);
	wakings = 100;
	check(executor_freeze(&executor) == EXECUTOR_OK && proc_look(executor.proc.stat).still,
		  "as often as it takes");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	executor.frozen = false;
	check(executor_freeze(&executor) == EXECUTOR_ENDED, "one that is gone is not");
	return done();
}
