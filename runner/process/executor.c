/*
 * executor.c
 *		The supervisor's hold on an executor, and on a process that has imported PyTorch and forks
 *		executors.
 *
 * An executor is stopped by SIGSTOP whenever it is not its turn, and the supervisor waits until
 * every thread of it is seen to be stopped. A candidate can't fork, so there is one process to
 * stop.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/executor.h"

#define FREEZE_SECONDS 5.0
#define FREEZE_AGAIN	0.02	/* seconds; most are stopped within a thousandth of that */
#define END_MS			2000	/* for a killed process to be gone */

void
executor_init(Executor *executor)
{
	memset(executor, 0, sizeof(*executor));
	executor->proc = (ProcFiles) {-1, -1, -1};
	executor->pidfd = executor->sock = executor->log_fd = executor->control_fd =
		executor->handed = -1;
}

bool
executor_ready(Executor *executor, double seconds)
{
	WireMessage hello;

	if (message_receive(executor->sock, &hello, clock_now() + seconds, &executor->pid)
		!= EXECUTOR_OK || hello.op != WIRE_HELLO || executor->pid <= 0)
		return false;
	executor->pidfd = (int) syscall(SYS_pidfd_open, executor->pid, 0);
	executor->proc.stat = proc_open(executor->pid, "stat");
	executor->proc.schedstat = proc_open(executor->pid, "schedstat");
	executor->proc.tasks = proc_open(executor->pid, "task");
	clock_getcpuclockid(executor->pid, &executor->cpu_clock);
	return executor->pidfd >= 0 && executor->proc.stat >= 0;
}

/* Makes a log, control memory and a socket, whose other end is `theirs`, for an executor. */
static bool
begin(Executor *executor, int *theirs)
{
	int			pair[2];
	int			on = 1;

	executor_init(executor);
	executor->log_fd = log_file();
	executor->control_fd = shared_memory("control", sizeof(WireControl), F_SEAL_SEAL,
										 (void **) &executor->control);
	if (executor->log_fd < 0 || executor->control_fd < 0
		|| socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return false;
	executor->sock = pair[0];
	*theirs = pair[1];
	return setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0;
}

bool
executor_start(Executor *executor, Sandbox *sandbox, const int *fds, int nfds)
{
	int			theirs;

	if (!begin(executor, &theirs))
		return false;
	sandbox->fds[0] = theirs;
	sandbox->fds[1] = executor->control_fd;
	memcpy(sandbox->fds + 2, fds, (size_t) nfds * sizeof(int));
	sandbox->nfds = nfds + 2;
	sandbox->output_fd = executor->log_fd;
	executor->sandbox = sandbox_start(sandbox);
	close(theirs);
	return executor->sandbox >= 0;
}

bool
executor_fork(Executor *executor, Executor *zygote, const int *fds, int nfds, double seconds)
{
	int			all[MESSAGE_HANDED];
	WireMessage command = {.op = WIRE_FORK,.nonce = random_secret()};
	int			theirs;
	bool		sent;

	if (!begin(executor, &theirs))
		return false;
	executor->zygote = zygote;
	executor->forked = command.nonce;
	memcpy(all, (int[]) {theirs, executor->control_fd, executor->log_fd}, 3 * sizeof(int));
	memcpy(all + 3, fds, (size_t) nfds * sizeof(int));
	sent = message_send(zygote->sock, &command, all, nfds + 3, 0);
	close(theirs);
	return sent && executor_ready(executor, seconds);
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
		ProcStat	process = proc_look(executor->proc.stat);

		if (process.state == 0)
			return EXECUTOR_ENDED;
		if (stopped_whole(&process, executor->pid))
		{
			if (process.state == 'Z' && process.threads == 1)
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
		/* A batch system that resumes all that it stopped takes back a stop that was not seen. */
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
	stopped_released(executor);
	return syscall(SYS_pidfd_send_signal, executor->pidfd, SIGCONT, NULL, 0) == 0 ? EXECUTOR_OK
		: EXECUTOR_ENDED;
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

/* Waits for a process's end; false: it goes on. */
static bool
await_end(const Executor *executor)
{
	struct pollfd p = {.fd = executor->pidfd,.events = POLLIN};
	int			ended;

	while ((ended = poll(&p, 1, END_MS)) < 0 && errno == EINTR)
		continue;
	return ended > 0;
}

void
executor_find_end(Executor *executor)
{
	int			status = 0;

	if (executor->ended)
		return;
	executor->ended = true;
	executor->wait_status = -1;	/* it goes on */
	if (executor->zygote && await_end(executor))
	{
		/* The kernel keeps it until the zygote, if it is not gone as well, may let it go. */
		ProcStat	process = proc_look(executor->proc.stat);

		executor->wait_status = process.state == 0 ? SIGKILL : process.status;
	}
	else if (!executor->zygote && sandbox_wait(executor->sandbox, 2, &status))
	{
		/* bubblewrap passes a signal on as 128 + its number */
		executor->sandbox = 0;
		if (WIFEXITED(status) && WEXITSTATUS(status) > 128)
			status = WEXITSTATUS(status) - 128;
		executor->wait_status = status;
	}
}

void
executor_kill(Executor *executor)
{
	if (executor->pidfd < 0)
		return;
	stopped_released(executor);
	syscall(SYS_pidfd_send_signal, executor->pidfd, SIGKILL, NULL, 0);
}

void
executor_end(Executor *executor)
{
	executor_kill(executor);
	if (executor->sandbox > 0)
		sandbox_end(executor->sandbox);
	/* No other process is timed while the kernel clears what this one held. */
	if (executor->pidfd >= 0)
	{
		await_end(executor);
		if (executor->zygote)
			message_send(executor->zygote->sock, &(WireMessage) {.op = WIRE_ENDED,
						 .nonce = executor->forked}, NULL, 0, MSG_DONTWAIT);
	}
	if (executor->control)
		munmap(executor->control, sizeof(WireControl));
	if (executor->pool)
		executor->release(executor->pool);
	for (int i = 0; i < 7; i++)
	{
		int			fd = (int[]){executor->pidfd, executor->proc.stat, executor->proc.schedstat,
			executor->proc.tasks, executor->sock, executor->log_fd, executor->control_fd}[i];

		if (fd >= 0)
			close(fd);
	}
	executor_init(executor);
}
