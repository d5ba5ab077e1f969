/*
 * executor.c
 *		The supervisor's hold on an executor.
 *
 * An executor is stopped by SIGSTOP whenever it is not its turn, and the supervisor waits until
 * every thread of it is seen to be stopped. A command goes through these phases: look whether all
 * others are stopped, read the clock, thaw, send, wait for the answer, freeze, read the clock.
 * Candidate code runs only inside that window, so no work can be hidden before the command or after
 * the answer, and the supervisor reads outputs from a process that can't change them. A candidate
 * can't fork, so there is one process to stop.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/proc.h"
#include "common/text.h"
#include "process/executor.h"
#include "process/stopped.h"

#define FREEZE_SECONDS 5.0
#define FREEZE_AGAIN	0.02	/* seconds; most are stopped within a thousandth of that */
#define END_MS			2000	/* for a killed process to be gone */
#define ATTENTION_SECONDS 0.1	/* how long a core is spent on waiting */

volatile sig_atomic_t executor_cancelled;

void
executor_init(Executor *executor)
{
	memset(executor, 0, sizeof(*executor));
	executor->pidfd = executor->stat_fd = executor->schedstat_fd = executor->sock =
		executor->log_fd = executor->control_fd = executor->handed = -1;
}

static int
socket_pair(int pair[2])
{
	int			on = 1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return -1;
	return setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
}

/* sleeps until there is news; as poll(), with 0 at the deadline and where it is cancelled */
static int
wait_for_news(int sock, double deadline)
{
	struct pollfd p = {.fd = sock,.events = POLLIN};
	double		left = 0;
	int			ready = 0;

	while (ready == 0 && !executor_cancelled && (left = deadline - clock_now()) > 0)
	{
		ready = poll(&p, 1, left > 1000 ? 1000000 : (int) (left * 1000) + 1);
		if (ready < 0 && errno == EINTR)
			ready = 0;
	}
	return ready;
}

/* waits for a datagram; pid: the sender's, as the kernel vouches */
static ExecutorResult
receive(int sock, WireMessage *message, double deadline, pid_t *pid)
{
	for (;;)
	{
		int			ready = wait_for_news(sock, deadline);
		char		space[CMSG_SPACE(sizeof(struct ucred)) + 64];
		struct iovec iov = {message, sizeof(*message)};
		struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = space,
			.msg_controllen = sizeof(space)};
		ssize_t		got;

		if (ready <= 0)
			return ready == 0 ? EXECUTOR_TIMEOUT : EXECUTOR_BROKEN;
		got = recvmsg(sock, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			return EXECUTOR_ENDED;
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c))
		{
			if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			{
				int			n = (int) ((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));

				for (int i = 0; i < n; i++)
					close(((int *) (void *) CMSG_DATA(c))[i]);
			}
			else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS && pid)
				*pid = ((struct ucred *) (void *) CMSG_DATA(c))->pid;
		}
		return got == sizeof(*message) ? EXECUTOR_OK : EXECUTOR_FORGED;
	}
}

#define MOST_HANDED	8

/* sends a message, with descriptors */
static bool
send_message(int sock, WireMessage *message, const int *fds, int n, int flags)
{
	char		space[CMSG_SPACE(MOST_HANDED * sizeof(int))] = {0};
	struct iovec iov = {message, sizeof(*message)};
	struct msghdr header = {.msg_iov = &iov,.msg_iovlen = 1};
	size_t		bytes = (size_t) n * sizeof(int);

	if (n > 0)
	{
		struct cmsghdr *c;

		header.msg_control = space;
		header.msg_controllen = CMSG_SPACE(bytes);
		c = CMSG_FIRSTHDR(&header);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(bytes);
		memcpy(CMSG_DATA(c), fds, bytes);
	}
	return sendmsg(sock, &header, MSG_NOSIGNAL | flags) == sizeof(*message);
}

/*
 * Waits for a datagram, or the deadline, without going to sleep, because a sleeping virtual core
 * takes long to wake.
 */
static void
watch(int sock, double deadline)
{
	char		byte;

	while (recv(sock, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN
		   && clock_now() < deadline)
		;
}

static ExecutorResult
attach(Executor *executor, double seconds)
{
	WireMessage hello;
	char		path[64];
	ExecutorResult result = receive(executor->sock, &hello, clock_now() + seconds, &executor->pid);

	if (result != EXECUTOR_OK)
		return result == EXECUTOR_FORGED ? EXECUTOR_BROKEN : result;
	if (hello.op != WIRE_HELLO || executor->pid <= 0)
		return EXECUTOR_BROKEN;
	executor->pidfd = (int) syscall(SYS_pidfd_open, executor->pid, 0);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int) executor->pid);
	executor->stat_fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int) executor->pid);
	executor->schedstat_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (executor->schedstat_fd < 0 || clock_getcpuclockid(executor->pid, &executor->cpu_clock) != 0)
		executor->one_core = false;
	return executor->pidfd >= 0 && executor->stat_fd >= 0 ? EXECUTOR_OK : EXECUTOR_BROKEN;
}

/* what every executor has: a log, control memory and a socket, whose other end is `theirs` */
static bool
begin(Executor *executor, int *theirs)
{
	int			pair[2];

	executor_init(executor);
	executor->log_fd = log_file();
	executor->control_fd = shared_memory("control", sizeof(WireControl), F_SEAL_SEAL,
										 (void **) &executor->control);
	if (executor->log_fd < 0 || executor->control_fd < 0 || socket_pair(pair) != 0)
		return false;
	executor->sock = pair[0];
	*theirs = pair[1];
	return true;
}

ExecutorResult
executor_start(Executor *executor, Sandbox *sandbox, const Arena *arena, int call_fd, int filter_fd,
			   double seconds)
{
	int			theirs;
	ExecutorResult result;

	if (!begin(executor, &theirs))
		return EXECUTOR_BROKEN;
	sandbox->nfds = 6;
	memcpy(sandbox->fds, (int[]) {theirs, executor->control_fd, arena->inputs_fd,
		arena->outputs_fd, call_fd, filter_fd}, 6 * sizeof(int));
	sandbox->output_fd = executor->log_fd;
	executor->sandbox = sandbox_start(sandbox);
	close(theirs);
	if (executor->sandbox < 0)
		return EXECUTOR_BROKEN;
	result = attach(executor, seconds);
	return result == EXECUTOR_ENDED ? EXECUTOR_BROKEN : result;
}

ExecutorResult
zygote_start(Zygote *zygote, Sandbox *sandbox, int filter_fd)
{
	int			pair[2];

	zygote->log_fd = log_file();
	if (zygote->log_fd < 0 || socket_pair(pair) != 0)
		return EXECUTOR_BROKEN;
	zygote->sock = pair[0];
	sandbox->fds[0] = pair[1];
	sandbox->fds[1] = filter_fd;
	sandbox->nfds = 2;
	sandbox->output_fd = zygote->log_fd;
	zygote->sandbox = sandbox_start(sandbox);
	close(pair[1]);
	if (zygote->sandbox < 0)
		return EXECUTOR_BROKEN;
	return EXECUTOR_OK;
}

/* the end of a log: a traceback names its error last */
static void
last_words(int log_fd, char *text, size_t size)
{
	char		raw[1024];
	struct stat file;
	off_t		start = 0;
	ssize_t		n;

	if (fstat(log_fd, &file) == 0 && file.st_size > (off_t) sizeof(raw))
		start = file.st_size - (off_t) sizeof(raw);
	n = pread(log_fd, raw, sizeof(raw), start);
	text_clean(text, size, raw, n > 0 ? (size_t) n : 0);
}

ExecutorResult
zygote_ready(Zygote *zygote, double seconds, char *text, size_t size)
{
	WireMessage hello;
	int			status;
	ExecutorResult result = receive(zygote->sock, &hello, clock_now() + seconds, NULL);

	if (result == EXECUTOR_OK && hello.op == WIRE_HELLO)
		return EXECUTOR_OK;
	if (sandbox_wait(zygote->sandbox, 0.2, &status))
		zygote->sandbox = 0;
	last_words(zygote->log_fd, text, size);
	return result == EXECUTOR_OK ? EXECUTOR_FORGED : result;
}

ExecutorResult
executor_fork(Executor *executor, Zygote *zygote, const int *fds, int nfds, double seconds)
{
	int			all[MOST_HANDED];
	WireMessage command = {.op = WIRE_FORK,.nonce = random_secret()};
	int			theirs;
	int			n = 3;
	bool		sent;

	if (!begin(executor, &theirs))
		return EXECUTOR_BROKEN;
	executor->zygote = zygote;
	executor->forked = command.nonce;
	all[0] = theirs;
	all[1] = executor->control_fd;
	all[2] = executor->log_fd;
	for (int i = 0; i < nfds && n < MOST_HANDED; i++)
		all[n++] = fds[i];
	sent = send_message(zygote->sock, &command, all, n, 0);
	close(theirs);
	if (!sent)
		return EXECUTOR_BROKEN;
	return attach(executor, seconds);
}

ExecutorResult
executor_freeze(Executor *executor)
{
	double		deadline = clock_now() + FREEZE_SECONDS;
	double		again = clock_now() + FREEZE_AGAIN;

	if (executor->frozen)
		return EXECUTOR_OK;
	if (syscall(SYS_pidfd_send_signal, executor->pidfd, SIGSTOP, NULL, 0) != 0)
		return EXECUTOR_ENDED;
	for (int spins = 0;; spins++)
	{
		ProcessState process = stopped_look(executor->stat_fd);

		if (process.letter == 0)
			return EXECUTOR_ENDED;
		if (process.still && (process.threads == 1 || stopped_threads(executor->pid)))
		{
			if (process.letter == 'Z' && process.threads == 1)
				return EXECUTOR_ENDED;
			executor->frozen = true;
			return EXECUTOR_OK;
		}
		if (spins > 200)
			sched_yield();
		if ((spins & 0xFF) != 0xFF)
			continue;
		if (clock_now() > deadline)
			return EXECUTOR_BROKEN;
		/*
		 * a batch system that resumes all that it stopped takes back a stop that was not seen yet,
		 * so the signal is sent again
		 */
		if (clock_now() > again)
		{
			syscall(SYS_pidfd_send_signal, executor->pidfd, SIGSTOP, NULL, 0);
			again = clock_now() + FREEZE_AGAIN;
		}
	}
}

ExecutorResult
executor_thaw(Executor *executor)
{
	if (!executor->frozen)
		return EXECUTOR_OK;
	executor->frozen = false;
	stopped_released(executor->pidfd);
	return syscall(SYS_pidfd_send_signal, executor->pidfd, SIGCONT, NULL, 0) == 0 ? EXECUTOR_OK
		: EXECUTOR_ENDED;
}

size_t
executor_added(const Executor *executor, size_t limit)
{
	struct rlimit data;
	uint64_t	bytes = proc_data_bytes(executor->pid);

	if (prlimit(executor->pid, RLIMIT_DATA, NULL, &data) != 0 || data.rlim_cur == RLIM_INFINITY
		|| data.rlim_cur < limit || bytes < data.rlim_cur - limit)
		return 0;
	return bytes - (data.rlim_cur - limit);
}

bool
executor_lower_limit(const Executor *executor, size_t limit, size_t bytes)
{
	struct rlimit now;

	for (int i = 0; i < 2 && bytes < limit; i++)
	{
		int			resource = i == 0 ? RLIMIT_DATA : RLIMIT_AS;

		if (prlimit(executor->pid, resource, NULL, &now) != 0)
			return false;
		if (now.rlim_max == RLIM_INFINITY || now.rlim_max < limit)
			continue;
		now.rlim_cur = now.rlim_max = now.rlim_max - limit + bytes;
		if (prlimit(executor->pid, resource, &now, NULL) != 0)
			return false;
	}
	return true;
}

void
executor_pin(const Executor *executor, const cpu_set_t *cores)
{
	char		path[64];
	DIR		   *folder;
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", (int) executor->pid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder)) != NULL)
	{
		pid_t		thread = (pid_t) strtol(entry->d_name, NULL, 10);

		if (thread > 0)
			sched_setaffinity(thread, sizeof(*cores), cores);
	}
	if (folder)
		closedir(folder);
}

/* notes what a zygote has said of forks that ended; false: nothing, within the time */
static bool
hear(Zygote *zygote, double deadline)
{
	WireMessage message;

	if (receive(zygote->sock, &message, deadline, NULL) != EXECUTOR_OK)
		return false;
	if (message.op == WIRE_ENDED)
	{
		zygote->ended[zygote->ends % ZYGOTE_ENDS] = message.nonce;
		zygote->wait_status[zygote->ends++ % ZYGOTE_ENDS] = (int) message.value;
	}
	return true;
}

/* the wait status of a fork; others that were killed may end before it, or after; -1: not known */
static int
fork_status(Zygote *zygote, uint64_t forked)
{
	double		deadline = clock_now() + END_MS / 1000.0;

	do
		for (int i = 0; i < ZYGOTE_ENDS; i++)
			if (zygote->ended[i] == forked)
				return zygote->wait_status[i];
	while (hear(zygote, deadline));
	return -1;
}

/* how a process ended whose socket fell silent */
static void
find_end(Executor *executor)
{
	int			status = 0;

	executor->ended = true;
	if (executor->zygote)
		executor->wait_status = fork_status(executor->zygote, executor->forked);
	else if (sandbox_wait(executor->sandbox, 2, &status))
	{
		/* bubblewrap passes a signal on as 128 + its number */
		executor->sandbox = 0;
		if (WIFEXITED(status) && WEXITSTATUS(status) > 128)
			status = WEXITSTATUS(status) - 128;
		executor->wait_status = status;
	}
	else
		executor->wait_status = -1;
}

/*
 * seconds that a thread was ready to run, but others had its core; negative where not known.
 * `turns`: times that it got one
 */
static double
read_delay(int schedstat_fd, uint64_t *turns)
{
	char		text[96];
	ssize_t		n = pread(schedstat_fd, text, sizeof(text) - 1, 0);
	unsigned long long running,
				waiting,
				times;

	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "%llu %llu %llu", &running, &waiting, &times) != 3)
		return -1;
	*turns = times;
	return (double) waiting * 1e-9;
}

/*
 * What the kernel accounts to a stopped executor, and how long the supervisor itself had to wait
 * for a core: an answer that lies there meanwhile is not the code's time. The executor's delay is
 * its first thread's, and also grows while other threads of it have the core. Threads gain nothing
 * by that, because reading_seconds() never goes below the CPU time of all of them.
 */
static void
read_usage(const Executor *executor, Reading *reading)
{
	static int	own_fd = -1;
	struct timespec cpu;
	double		delay;
	uint64_t	turns;

	reading->cpu = reading->delay = 0;
	reading->turns = 0;
	if (!executor->one_core)
		return;
	if (own_fd < 0)
		own_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	delay = read_delay(executor->schedstat_fd, &reading->turns);
	if (delay >= 0 && clock_gettime(executor->cpu_clock, &cpu) == 0)
	{
		reading->delay = delay + fmax(read_delay(own_fd, &turns), 0);
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
 * Whether others had the core meanwhile. A process that was stopped gets it to answer, and once
 * more to be stopped. One that is awake at both ends has it all the time.
 */
static bool
was_preempted(const Reading *from, const Reading *to, bool awake)
{
	return to->turns > from->turns + (awake ? 0 : 2);
}

static ExecutorResult
ask(Executor *executor, uint32_t op, uint32_t count, uint32_t flags, uint64_t seed, double timeout)
{
	bool		sent;

	executor->limit = timeout;
	executor->text[0] = '\0';
	executor->asked = (WireMessage) {.nonce = random_secret(), .op = op, .count = count,
		.flags = flags, .seed = seed};
	memcpy(executor->asked.secret, &executor->secret, sizeof(executor->asked.secret));
	sent = send_message(executor->sock, &executor->asked, &executor->handed, executor->handed >= 0,
						MSG_DONTWAIT);
	executor->handed = -1;
	return sent ? executor_thaw(executor) : EXECUTOR_ENDED;
}

static ExecutorResult
await_answer(Executor *executor, double start, double timeout)
{
	ExecutorResult result;

	if (executor->attentive)
		watch(executor->sock, start + (timeout < ATTENTION_SECONDS ? timeout : ATTENTION_SECONDS));
	result = receive(executor->sock, &executor->answer, start + timeout, NULL);
	if (result == EXECUTOR_ENDED)
		find_end(executor);
	return result;
}

ExecutorResult
executor_ask(Executor *executor, uint32_t op, uint32_t count, uint32_t flags, uint64_t seed,
			 double timeout)
{
	double		start = clock_now();
	ExecutorResult result = ask(executor, op, count, flags, seed, timeout);

	if (result == EXECUTOR_ENDED)
		find_end(executor);
	return result == EXECUTOR_OK ? await_answer(executor, start, timeout) : result;
}

static ExecutorResult
judge(Executor *executor, ExecutorResult result, ExecutorResult freeze)
{
	if (executor->frozen)
		stopped_noted(executor->pidfd, executor->stat_fd, executor->pid, executor->hostile);
	/* what can't be stopped has not ended */
	if (result == EXECUTOR_TIMEOUT || freeze == EXECUTOR_BROKEN)
		return EXECUTOR_TIMEOUT;
	if (freeze == EXECUTOR_ENDED)
	{
		find_end(executor);
		return freeze;
	}
	if (result != EXECUTOR_OK || freeze != EXECUTOR_OK)
		return result != EXECUTOR_OK ? result : freeze;
	if (executor->answer.nonce != executor->asked.nonce
		|| executor->answer.op != executor->asked.op)
		return EXECUTOR_FORGED;
	executor->value = executor->answer.value;
	if (executor->answer.status == WIRE_OK)
		return EXECUTOR_OK;
	text_clean(executor->text, sizeof(executor->text), executor->control->text,
			   sizeof(executor->control->text));
	return executor->answer.status == WIRE_UNSUPPORTED ? EXECUTOR_UNSUPPORTED
		: executor->answer.status == WIRE_FAULTED ? EXECUTOR_FAULTED : EXECUTOR_FAILED;
}

ExecutorResult
executor_look(Executor *executor)
{
	switch (stopped_check())
	{
		case STOPPED_ALL:
			break;
		case STOPPED_NOT_REFERENCE:
			executor->intruder = false;
			return EXECUTOR_AWAKE;
		case STOPPED_NOT_CANDIDATE:
			executor->intruder = true;
			return EXECUTOR_AWAKE;
	}
	return EXECUTOR_OK;
}

/*
 * Waits without sleeping, because the core of a sleeping process goes cold. False: there is an
 * answer, an end, or no time left.
 */
static bool
await_run(Executor *executor, uint32_t run, double deadline)
{
	for (uint32_t spins = 1;; spins++)
	{
		if (__atomic_load_n(&executor->control->done, __ATOMIC_ACQUIRE) > run)
			return true;
		if (spins % 1024 == 0)
		{
			struct pollfd p = {.fd = executor->sock,.events = POLLIN};

			if (poll(&p, 1, 0) != 0 || clock_now() > deadline || executor_cancelled)
				return __atomic_load_n(&executor->control->done, __ATOMIC_ACQUIRE) > run;
		}
		clock_pause();
	}
}

/*
 * The candidate's clock runs while its input is brought, because code may look for it there. That
 * of the reference, which waits for the gate, begins after it.
 */
static void
open_gate(Executor *executor, Reading *from)
{
	const Gate *gate = executor->gate;

	if (!executor->hostile)
		gate->open(gate->context);
	read_usage(executor, from);
	from->wall = clock_now();
	if (executor->hostile)
		gate->open(gate->context);
	__atomic_store_n(&executor->control->gate, 2, __ATOMIC_RELEASE);
}

/*
 * What the executor does after its run is not the code's, so the clock ends here. Some stopped
 * processes are still leaving their core, and what they used there is accounted when they have.
 */
static ExecutorResult
close_gate(Executor *executor, Reading *to)
{
	ExecutorResult result = executor_freeze(executor);
	double		cpu;

	if (result != EXECUTOR_OK)
		return result;
	to->wall = clock_now();
	read_usage(executor, to);
	do
	{
		cpu = to->cpu;
		read_usage(executor, to);
	} while (to->cpu != cpu);
	if (executor->gate->close)
		executor->gate->close(executor->gate->context);
	return executor_thaw(executor);
}

/* `times`: when the second run began, and when it was done */
static ExecutorResult
ask_gated(Executor *executor, uint32_t op, uint32_t count, uint32_t flags, uint64_t seed,
		  double timeout, Reading *times)
{
	double		start = clock_now();
	ExecutorResult result;
	bool		both = false;

	executor->control->gate = 1;
	executor->control->done = 0;
	result = ask(executor, op, count, flags, seed, timeout);
	if (result == EXECUTOR_OK && await_run(executor, 0, start + timeout))
	{
		open_gate(executor, &times[0]);
		both = await_run(executor, 1, start + timeout);
		if (both)
			result = close_gate(executor, &times[1]);
	}
	if (result == EXECUTOR_ENDED)
		find_end(executor);
	if (result != EXECUTOR_OK)
		return result;
	result = await_answer(executor, start, timeout);
	/* an answer to runs that are not both done */
	return result == EXECUTOR_OK && !both && executor->answer.status == WIRE_OK
		? EXECUTOR_FORGED : result;
}

ExecutorResult
executor_settle(Executor *executor, ExecutorResult result)
{
	return result == EXECUTOR_ENDED ? result : judge(executor, result, executor_freeze(executor));
}

ExecutorResult
executor_command(Executor *executor, uint32_t op, uint32_t count, uint32_t flags, uint64_t seed,
				 double timeout, double *elapsed)
{
	Reading		from,
				to,
				times[2] = {{0}};
	ExecutorResult result;
	ExecutorResult freeze;

	if (elapsed)
		*elapsed = 0;
	result = executor_look(executor);
	if (result != EXECUTOR_OK)
		return result;
	read_usage(executor, &from);
	from.wall = clock_now();
	result = executor->gate ? ask_gated(executor, op, count, flags, seed, timeout, times)
		: executor_ask(executor, op, count, flags, seed, timeout);
	if (result == EXECUTOR_ENDED)
		return result;
	freeze = executor_freeze(executor);
	to.wall = clock_now();
	if (elapsed)
	{
		read_usage(executor, &to);
		*elapsed = reading_seconds(executor, &from, &to);
		if (executor->gate && times[1].wall > 0)
		{
			from = times[0];
			to = times[1];
		}
		executor->worked = reading_seconds(executor, &from, &to);
		if (executor->one_core && from.cpu > 0 && to.cpu > from.cpu)
			executor->worked = to.cpu - from.cpu;
		executor->preempted = was_preempted(&from, &to, executor->gate != NULL);
	}
	return judge(executor, result, freeze);
}

ExecutorResult
executor_begin(Executor *executor, uint32_t op, uint32_t count, uint32_t flags, uint64_t seed,
			   double timeout)
{
	ExecutorResult result = executor_look(executor);

	executor->begun = clock_now();
	if (result != EXECUTOR_OK)
		return result;
	result = ask(executor, op, count, flags, seed, timeout);
	/* it was stopped while others were waited for */
	if (result == EXECUTOR_ENDED)
		find_end(executor);
	return result;
}

static void
take_answer(Executor *executor)
{
	ExecutorResult result;

	executor->took = clock_now() - executor->begun;
	result = receive(executor->sock, &executor->answer, clock_now() + FREEZE_AGAIN, NULL);
	if (result == EXECUTOR_ENDED)
		find_end(executor);
	executor->result = executor_settle(executor, result);
}

/*
 * Each is stopped as soon as it has answered, because threads that go on would slow those that are
 * still waited for.
 */
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
				until = fmin(until, executors[i]->begun + executors[i]->limit);
		ready = poll(sockets, (nfds_t) n,
					 (int) (fmin(fmax(until - clock_now(), 0), 1000) * 1000) + 1);
		now = clock_now();
		for (int i = 0; i < n; i++)
			if (sockets[i].fd >= 0
				&& ((ready > 0 && sockets[i].revents != 0) || executor_cancelled
					|| now >= executors[i]->begun + executors[i]->limit))
			{
				take_answer(executors[i]);
				sockets[i].fd = -1;
				left--;
			}
	}
}

/* opens the gate run by run; whether all of them said that they were done */
static bool
step(Executor *executor, uint32_t runs, void (*between) (void *context, uint32_t run,
														 uint32_t runs), void *context,
	 double deadline)
{
	uint32_t	run = 0;
	double		start = clock_now();

	do
	{
		between(context, run, runs);
		__atomic_store_n(&executor->control->gate, run + 1, __ATOMIC_RELEASE);
	} while (await_run(executor, run, deadline) && ++run < runs);
	executor->pace = (clock_now() - start) / runs;
	if (run == runs)
		between(context, run, runs);
	return run == runs;
}

ExecutorResult
executor_ask_steps(Executor *executor, uint32_t runs, uint32_t flags,
				   void (*between) (void *context, uint32_t run, uint32_t runs), void *context,
				   double timeout)
{
	double		deadline = clock_now() + timeout;
	ExecutorResult result;
	bool		all = false;

	executor->control->gate = executor->control->done = 0;
	result = ask(executor, WIRE_RUN, runs, flags, 0, timeout);
	if (result == EXECUTOR_OK)
	{
		all = step(executor, runs, between, context, deadline);
		watch(executor->sock, fmin(deadline, clock_now() + ATTENTION_SECONDS));
		result = receive(executor->sock, &executor->answer, deadline, NULL);
	}
	if (result == EXECUTOR_ENDED)
		find_end(executor);
	/* an answer to the block before that to its runs */
	return result == EXECUTOR_OK && !all && executor->answer.status == WIRE_OK ? EXECUTOR_FORGED
		: result;
}

void
executor_log(const Executor *executor, char *text, size_t size)
{
	char		raw[4096];
	ssize_t		n = executor->log_fd >= 0 ? pread(executor->log_fd, raw, sizeof(raw), 0) : 0;

	text_clean(text, size, raw, n > 0 ? (size_t) n : 0);
}

void
executor_kill(Executor *executor)
{
	if (executor->pidfd < 0)
		return;
	stopped_ended(executor->pidfd);
	syscall(SYS_pidfd_send_signal, executor->pidfd, SIGKILL, NULL, 0);
}

void
executor_give_back(Executor *executor)
{
	if (executor->pool)
		executor->release(executor->pool);
	executor->pool = NULL;
}

void
executor_end(Executor *executor)
{
	executor_kill(executor);
	if (executor->sandbox > 0)
		sandbox_end(executor->sandbox);
	if (executor->zygote && executor->pidfd >= 0 && !executor->ended)
		find_end(executor);
	/*
	 * the kernel needs time to clear what a dying process held, a GPU's context above all; the next
	 * process must not be timed meanwhile
	 */
	if (executor->pidfd >= 0)
	{
		struct pollfd p = {.fd = executor->pidfd,.events = POLLIN};

		poll(&p, 1, END_MS);
	}
	if (executor->control)
		munmap(executor->control, sizeof(WireControl));
	executor_give_back(executor);
	for (int i = 0; i < EXECUTOR_RECENT; i++)
		free(executor->memory.recent[i]);
	for (int i = 0; i < 6; i++)
	{
		int			fd = (int[]){executor->pidfd, executor->stat_fd, executor->schedstat_fd,
			executor->sock, executor->log_fd,
			executor->control_fd}[i];

		if (fd >= 0)
			close(fd);
	}
	executor_init(executor);
}

void
zygote_end(Zygote *zygote)
{
	if (zygote->sandbox > 0)
		sandbox_end(zygote->sandbox);
	if (zygote->sock >= 0)
		close(zygote->sock);
	if (zygote->log_fd >= 0)
		close(zygote->log_fd);
	zygote->sandbox = 0;
	zygote->sock = zygote->log_fd = -1;
}
