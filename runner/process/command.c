/*
 * command.c
 *		A command to an executor, and the clock of it.
 *
 * Its phases: look whether all others are stopped, read the clock, send, thaw, wait for the answer,
 * freeze, read the clock. Candidate code runs in between alone, so no work can be hidden before or
 * after. Runs of a window are one command, and have clocks of their own (time/window.c).
 */
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"
#include "process/executor.h"

#define ANSWER_SECONDS	0.02	/* for an answer that poll() has announced */
#define HELD_SECONDS	0.1		/* by which the supervisor comes late, if it was paused */

/*
 * The executor's delay is its first thread's, and also grows while other threads of it have the
 * core. So the delay counts only where there are no other threads. The time of a thread that came
 * and went in between is part of the process's, and reading_seconds() never goes below that.
 */
void
executor_read_usage(const Executor *executor, Reading *reading, bool whole)
{
	static int	own_fd = -1;
	struct timespec cpu;
	struct stat tasks;
	double		waited;

	*reading = (Reading) {.wall = reading->wall};
	/* two links, and one for each thread */
	if (!whole || !executor->one_core || fstat(executor->proc.tasks, &tasks) != 0
		|| tasks.st_nlink > 3)
		return;
	if (own_fd < 0)
		own_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	if (proc_waited(executor->proc.schedstat, &waited)
		&& clock_gettime(executor->cpu_clock, &cpu) == 0)
	{
		proc_waited(own_fd, &reading->own_delay);
		reading->delay = waited;
		reading->cpu = (double) cpu.tv_sec + (double) cpu.tv_nsec * 1e-9;
	}
}

double
reading_seconds(const Executor *executor, const Reading *from, const Reading *to)
{
	double		wall = to->wall - from->wall;
	double		busy = wall - (to->delay - from->delay);
	double		cpu = to->cpu - from->cpu;

	if (!executor->one_core || from->cpu == 0 || to->cpu == 0)
		return wall;
	return busy < cpu ? (cpu < wall ? cpu : wall) : busy;
}

/*
 * Whether an answer may be late by no fault of the code. Others may have stopped its process, which
 * the code itself can't, or all of a job by signals, of which the supervisor gets one, too. Or all
 * were paused with their container, so that the supervisor is late itself.
 */
static bool
was_halted(const Executor *executor)
{
	return proc_look(executor->proc.stat).state == 'T'
		|| stopped_continued != executor->last.resumed
		|| clock_now() > executor->last.begun + executor->last.limit + HELD_SECONDS;
}

/* Stops a process that should have answered by a deadline, and judges its answer. */
static ExecutorResult
end_command(Executor *executor, double deadline)
{
	WireMessage answer;
	ExecutorResult result = message_receive(executor->sock, &answer, deadline, NULL);
	ExecutorResult freeze;

	executor->last.halted = result == EXECUTOR_TIMEOUT && was_halted(executor);
	if (result == EXECUTOR_ENDED)
	{
		executor_find_end(executor);
		return result;
	}
	freeze = executor_freeze(executor);
	if (executor->frozen)
		stopped_noted(executor);
	/* A process that can't be stopped has not ended its command. */
	if (result == EXECUTOR_TIMEOUT || freeze == EXECUTOR_BROKEN)
		return EXECUTOR_TIMEOUT;
	if (freeze == EXECUTOR_ENDED)
		executor_find_end(executor);
	if (freeze != EXECUTOR_OK || result != EXECUTOR_OK)
		return freeze != EXECUTOR_OK ? freeze : result;
	if (answer.nonce != executor->last.asked.nonce || answer.op != executor->last.asked.op)
		return EXECUTOR_FORGED;
	executor->value = answer.value;
	if (answer.status != WIRE_OK)
		text_clean(executor->text, sizeof(executor->text), executor->control->text,
				   sizeof(executor->control->text));
	return answer.status <= WIRE_FAULTED ? (ExecutorResult) answer.status : EXECUTOR_FAILED;
}

ExecutorResult
executor_begin(Executor *executor, uint32_t op, uint32_t count, uint32_t flags, uint64_t seed,
			   double timeout)
{
	/* Whether all that should be stopped are, before the clock starts. */
	StoppedVerdict verdict = stopped_check();
	bool		begun;

	executor->intruder = verdict == STOPPED_NOT_CANDIDATE;
	executor->last = (Command) {.limit = timeout,.begun = clock_now(),
		.resumed = stopped_continued,.asked = {.nonce = random_secret(),.op = op,.count = count,
			.flags = flags,.seed = seed}};
	executor->listed_run = 0;
	executor->text[0] = '\0';
	if (verdict != STOPPED_ALL)
		return EXECUTOR_AWAKE;
	begun = message_send(executor->sock, &executor->last.asked, &executor->handed,
						 executor->handed >= 0, MSG_DONTWAIT)
		&& executor_thaw(executor) == EXECUTOR_OK;
	executor->handed = -1;
	if (!begun)
		executor_find_end(executor);
	return begun ? EXECUTOR_OK : EXECUTOR_ENDED;
}

/*
 * Waits through signals and awake, because a sleeping supervisor's core goes cold. False: the
 * process has sent a message or ended instead, the deadline has passed, or it is cancelled.
 */
static bool
await_word(const Executor *executor, const uint32_t *word, uint32_t least, double deadline)
{
	for (uint32_t spins = 1; __atomic_load_n(word, __ATOMIC_ACQUIRE) < least; spins++)
	{
		if (spins % 1024 == 0)
		{
			struct pollfd p = {.fd = executor->sock,.events = POLLIN};

			if (poll(&p, 1, 0) > 0 || clock_now() > deadline || executor_cancelled)
				return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= least;
		}
		if (executor->attentive)
			clock_pause();
		else
			sched_yield();
	}
	return true;
}

ExecutorResult
executor_begin_window(Executor *executor, uint32_t runs, uint32_t flags, double timeout)
{
	WireControl *control = executor->control;
	ExecutorResult result;

	control->ready = control->gate = 0;
	result = executor_begin(executor, WIRE_RUN, runs, flags | WIRE_FLAG_GATED, 0, timeout);
	if (result == EXECUTOR_OK)
		await_word(executor, &control->ready, 1, executor->last.begun + timeout);
	return result;
}

void
executor_open_gate(Executor *executor, uint32_t gate)
{
	__atomic_store_n(&executor->control->gate, gate, __ATOMIC_RELEASE);
}

bool
executor_await_run(Executor *executor, uint32_t run)
{
	executor->last.begun = clock_now();
	return await_word(executor, &executor->control->ready, run + 2,
					  executor->last.begun + executor->last.limit);
}

ExecutorResult
executor_end_window(Executor *executor, bool all)
{
	struct pollfd p = {.fd = executor->sock,.events = POLLIN};
	bool		early = poll(&p, 1, 0) > 0;
	bool		halted = !all && was_halted(executor);
	ExecutorResult result;

	executor_open_gate(executor, WIRE_GATE_END);
	result = end_command(executor, clock_now() + (all ? executor->last.limit : ANSWER_SECONDS));
	if (all || result != EXECUTOR_OK)
		return result;
	/* Runs were not done, and code that is only late answers once its last gate is open. */
	executor->last.halted = halted;
	return early ? EXECUTOR_FORGED : EXECUTOR_TIMEOUT;
}

ExecutorResult
executor_command(Executor *executor, uint32_t op, uint32_t count, uint32_t flags, double timeout)
{
	ExecutorResult result = executor_begin(executor, op, count, flags, 0, timeout);

	if (result != EXECUTOR_OK)
		return result;
	executor_await(&executor, 1);
	return executor->last.result;
}

/* Each is stopped as soon as it has answered, because threads that go on would slow the others. */
void
executor_await(Executor *const *executors, int n)
{
	struct pollfd sockets[EXECUTORS_AWAITED];
	int			left = n;

	for (int i = 0; i < n; i++)
		sockets[i] = (struct pollfd) {.fd = executors[i]->sock,.events = POLLIN};
	while (left > 0)
	{
		double		until = INFINITY;
		double		now;
		int			ready;

		/* poll() passes over those that have been taken, whose descriptors are negative */
		for (int i = 0; i < n; i++)
			if (sockets[i].fd >= 0)
				until = fmin(until, executors[i]->last.begun + executors[i]->last.limit);
		ready = poll(sockets, (nfds_t) n,
					 (int) (fmin(fmax(until - clock_now(), 0), 1000) * 1000) + 1);
		now = clock_now();
		for (int i = 0; i < n; i++)
		{
			Executor   *executor = executors[i];
			Command    *last = &executor->last;

			if (sockets[i].fd < 0 || !((ready > 0 && sockets[i].revents != 0)
									   || executor_cancelled || now >= last->begun + last->limit))
				continue;
			last->took = clock_now() - last->begun;
			last->result = end_command(executor, clock_now() + ANSWER_SECONDS);
			sockets[i].fd = -1;
			left--;
		}
	}
}
