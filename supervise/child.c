/*
 * child.c
 *		Child programs.
 *
 * The child gets nothing of the host's, and its end does not harm the host:
 *
 * - Between fork and exec the child makes only calls that are safe in a signal handler, on strings
 *   made before the fork.  It leaves by _exit, because exit would run the server's callbacks in the
 *   child and free the worker's slot in shared memory.
 * - The child closes every descriptor but the three pipes.  PostgreSQL 15 opens relation files and
 *   WAL without O_CLOEXEC, and an agent has a connection to the database.  A program that holds
 *   such a descriptor can write to it from any sandbox.
 * - The environment is a new one, so PGPASSWORD and the like are not in it.
 * - Signals are blocked around the fork, so that no handler of the host runs in the child and sets
 *   the worker's latch.
 * - The child has a session of its own, so it gets no signals for the host's process group.  The
 *   parent-death signal replaces them.  The signal is lost if the parent died before the child
 *   asked for it, so the child then checks getppid.
 * - Under memory pressure the kernel kills the child first, not the host.
 *
 * A pidfd says when the child has ended, so there is no SIGCHLD handler and no blocking wait.  A
 * zombie keeps its process number, so the whole session is killed before the zombie is collected.
 * The host adopts and collects the orphans of its children, because not every machine has an init
 * that would.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "supervise.h"

/* bytes that one poll reads, so that one child's output does not delay the others */
#define READ_BUDGET (256 * 1024)
/* lines of a child's standard error that reach the log */
#define LOG_LINES 50
#define LOG_LINE_BYTES 1000

/* as large as the kernel lets a pipe of an ordinary user be */
#define INPUT_BYTES (1024 * 1024)

#define KILL_WAIT_MS 1000
#define MAX_PASSED 64

char		cudal1_problem[2048] = "no reason given";
void		(*cudal1_log) (const char *format,...) = NULL;

int			cudal1_children_epoll = -1;

/* children that were not collected yet; all other zombies are orphans */
static Cudal1Child *children = NULL;

int64_t
cudal1_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool
cudal1_children_prepare(void (*log) (const char *format,...))
{
	cudal1_log = log;
	cudal1_children_epoll = epoll_create1(EPOLL_CLOEXEC);
	if (cudal1_children_epoll < 0)
		return false;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		log("could not become the parent of orphans: %s", strerror(errno));
	return true;
}

static bool
watch(int fd)
{
	struct epoll_event event = {.events = EPOLLIN,.data.fd = fd};

	return epoll_ctl(cudal1_children_epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

void
cudal1_children_collect(void)
{
	for (;;)
	{
		Cudal1Child *child = children;
		siginfo_t	info = {0};

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
			return;
		while (child && child->pid != info.si_pid)
			child = child->next;
		/* a poll collects it; the next call sees the others */
		if (child)
			return;
		(void) waitpid(info.si_pid, NULL, WNOHANG);
	}
}

/* closing removes the descriptor from the epoll set, because no other process holds this end */
static void
close_end(int *fd)
{
	if (*fd < 0)
		return;
	close(*fd);
	*fd = -1;
}

static void
close_all(Cudal1Child *child)
{
	close_end(&child->pidfd);
	close_end(&child->in);
	close_end(&child->out);
	close_end(&child->err);
	child->gone = true;
}

/* ---- input ---- */

/* Nothing wakes the host when a full pipe has room again, so its next poll goes on. */
static void
send_input(Cudal1Child *child)
{
	while (child->in >= 0 && child->input_sent < child->input.length)
	{
		size_t		left = child->input.length - child->input_sent;
		ssize_t		n = write(child->in, child->input.data + child->input_sent, left);

		if (n > 0)
			child->input_sent += (size_t) n;
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		else
		{
			/* the child has closed its end; how it ends says why */
			child->input_open = false;
			break;
		}
	}
	if (child->input_sent == child->input.length)
		child->input_sent = child->input.length = 0;
	if (!child->input_open)
		close_end(&child->in);
}

void
cudal1_child_send(Cudal1Child *child, const char *data, size_t length, bool last)
{
	if (child->in < 0 || !child->input_open)
		return;
	cudal1_buffer_append(&child->input, data, length);
	/* without all of its input the child can't work, and the end of its input ends it */
	child->input_open = !last && !child->input.lost;
	send_input(child);
}

/* ---- start ---- */

typedef struct Launch
{
	const Cudal1Program *program;
	char	   *environment[MAX_PASSED];
	char		home[PATH_MAX + 8];
	char		tmpdir[PATH_MAX + 8];
	int			ends[3];
	pid_t		parent;
} Launch;

/* in the child: async-signal-safe calls only */
static void
become(const Launch *launch)
{
	static const char failure[] = "could not be executed\n";
	struct sigaction standard;
	sigset_t	none;
	int			ends[3];
	int			fd;

	setsid();
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != launch->parent)
		_exit(126);

	memset(&standard, 0, sizeof(standard));
	standard.sa_handler = SIG_DFL;
	for (int number = 1; number < NSIG; number++)
		(void) sigaction(number, &standard, NULL);

	/* the pipe ends may be 0, 1 or 2 if the parent had closed these, so they are moved up first */
	for (int i = 0; i < 3; i++)
		ends[i] = fcntl(launch->ends[i], F_DUPFD, 3);
	for (int i = 0; i < 3; i++)
		if (ends[i] < 0 || dup2(ends[i], i) < 0)
			_exit(126);
	if (close_range(3, ~0U, 0) != 0)
		_exit(126);

	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0)
		(void) !write(fd, "900\n", 4);
	if (chdir(launch->program->scratch) < 0 && chdir("/") < 0)
		_exit(126);
	umask(077);
	sigemptyset(&none);
	(void) sigprocmask(SIG_SETMASK, &none, NULL);
	execve(launch->program->argv[0], launch->program->argv, launch->environment);
	(void) !write(2, failure, strlen(failure));
	_exit(127);
}

static bool
is_passed(const char *variable, const char *pass)
{
	/* and the GPUs that a batch system or an operator assigned */
	static const char *const names[] = {"PATH=", "CUDA_HOME=", "CUDA_VISIBLE_DEVICES=",
	"NVIDIA_VISIBLE_DEVICES="};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return pass && strncmp(variable, pass, strlen(pass)) == 0;
}

/* without PG* and LD_* */
static void
make_environment(Launch *launch)
{
	const char *path = getenv("PATH");
	char	   *made[] = {launch->home, launch->tmpdir, (char *) "LANG=C", (char *) "LC_ALL=C"};
	int			n = sizeof(made) / sizeof(made[0]);

	snprintf(launch->home, sizeof(launch->home), "HOME=%s", launch->program->scratch);
	snprintf(launch->tmpdir, sizeof(launch->tmpdir), "TMPDIR=%s", launch->program->scratch);
	memcpy(launch->environment, made, sizeof(made));
	if (!path || !path[0])
		launch->environment[n++] = (char *) "PATH=/usr/local/bin:/usr/bin:/bin";
	for (char **e = environ; *e && n < MAX_PASSED - 1; e++)
		if (is_passed(*e, launch->program->pass))
			launch->environment[n++] = *e;
	launch->environment[n] = NULL;
}

/* makes the pipes, with the child's ends in launch->ends */
static bool
make_pipes(Cudal1Child *child, Launch *launch)
{
	int		   *ours[] = {&child->in, &child->out, &child->err};

	for (int i = 0; i < 3; i++)
	{
		int			ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0)
			return false;
		/* the child reads its first pipe, and writes the others */
		*ours[i] = ends[i == 0];
		launch->ends[i] = ends[i != 0];
		if (fcntl(*ours[i], F_SETFL, O_NONBLOCK) < 0)
			return false;
	}
	/* most input is written at once, and the child reads it when it comes to it */
	(void) fcntl(child->in, F_SETPIPE_SZ, INPUT_BYTES);
	return true;
}

static bool
fork_child(Cudal1Child *child, Launch *launch)
{
	sigset_t	all;
	sigset_t	before;
	pid_t		pid;

	launch->parent = getpid();
	sigfillset(&all);
	(void) sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		become(launch);
	(void) sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return false;
	child->pid = pid;
	child->next = children;
	children = child;
	child->pidfd = (int) syscall(SYS_pidfd_open, pid, 0);
	return true;
}

bool
cudal1_child_start(Cudal1Child *child, const Cudal1Program *program)
{
	Launch		launch = {.program = program,.ends = {-1, -1, -1}};
	const char *failed = NULL;

	*child = (Cudal1Child) {.pidfd = -1,.in = -1,.out = -1,.err = -1,.on_line = program->on_line,
		.owner = program->owner,.input_open = program->input,
	.max_line = CUDAL1_MAX_LINE};
	snprintf(child->label, sizeof(child->label), "%s", program->label);
	make_environment(&launch);
	if (access(program->argv[0], X_OK) != 0)
		failed = "run";
	else if (!make_pipes(child, &launch))
		failed = "make pipes for";
	else if (!fork_child(child, &launch))
		failed = "fork for";
	else if (child->pidfd < 0 || !watch(child->pidfd) || !watch(child->out) || !watch(child->err))
		failed = "watch";
	if (failed)
	{
		snprintf(cudal1_problem, sizeof(cudal1_problem), "cannot %s \"%s\": %s", failed,
				 program->argv[0], strerror(errno));
		cudal1_child_end(child);
	}
	for (int i = 0; i < 3; i++)
		close_end(&launch.ends[i]);
	send_input(child);
	return !failed;
}

/* ---- output ---- */

/* logs a line of standard error; bytes that are not printable ASCII become question marks */
static void
log_line(Cudal1Child *child)
{
	char	   *line = child->err_line.data;
	bool		cut = child->err_line.length > LOG_LINE_BYTES;
	size_t		length = cut ? LOG_LINE_BYTES : child->err_line.length;

	if (length == 0 || child->log_lines > LOG_LINES)
		return;
	if (child->log_lines++ == LOG_LINES)
	{
		cudal1_log("%s: further lines are left out", child->label);
		return;
	}
	for (size_t i = 0; i < length; i++)
		if ((unsigned char) line[i] < 0x20 || (unsigned char) line[i] >= 0x7f)
			line[i] = line[i] == '\t' ? ' ' : '?';
	cudal1_log("%s: %.*s%s", child->label, (int) length, line, cut ? " ..." : "");
}

/* at the end of a line, or of the output */
static void
end_line(Cudal1Child *child, bool err)
{
	Cudal1Buffer *line = err ? &child->err_line : &child->out_line;

	if (err)
		log_line(child);
	else if (line->length > 0 && !child->overlong)
		child->on_line(child->owner, line->data, line->length);
	line->length = 0;
}

/* A line of standard error keeps a byte more than the log shows, which says that it was longer. */
static void
take(Cudal1Child *child, bool err, const char *data, size_t n)
{
	Cudal1Buffer *line = err ? &child->err_line : &child->out_line;
	size_t		most = err ? LOG_LINE_BYTES + 1 : child->max_line;

	while (n > 0)
	{
		const char *end = memchr(data, '\n', n);
		size_t		length = end ? (size_t) (end - data) : n;
		size_t		room = most - line->length;

		cudal1_buffer_append(line, data, MIN(length, room));
		child->overlong |= !err && (length > room || line->lost);
		if (!end)
			return;
		end_line(child, err);
		n -= length + 1;
		data = end + 1;
	}
}

/* reads without waiting; true when the pipe is empty for now or closed */
static bool
drain(Cudal1Child *child, int *fd)
{
	static char buffer[65536];
	ssize_t		budget = READ_BUDGET;

	while (*fd >= 0 && budget > 0)
	{
		ssize_t		n = read(*fd, buffer, sizeof(buffer));

		if (n > 0)
		{
			budget -= n;
			take(child, fd == &child->err, buffer, (size_t) n);
		}
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return true;
		else
			close_end(fd);
	}
	return *fd < 0;
}

static void
forget(Cudal1Child *child)
{
	Cudal1Child **place = &children;

	while (*place != child)
		place = &(*place)->next;
	*place = child->next;
	child->pid = 0;
	close_end(&child->pidfd);
}

/* collects the child if it has ended, and kills its session, which may outlive it */
static bool
reap(Cudal1Child *child)
{
	siginfo_t	info = {0};

	if (child->pid == 0)
		return true;
	if (waitid(P_PID, (id_t) child->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
	{
		if (errno == EINTR)
			return false;
		/* Other code of this process collected the child, so its status is not known. */
		child->status = 0;
	}
	else if (info.si_pid == 0)
		return false;
	else
	{
		(void) kill(-child->pid, SIGKILL);
		while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR)
			;
	}
	forget(child);
	return true;
}

void
cudal1_child_poll(Cudal1Child *child)
{
	bool		all;

	if (child->gone)
		return;
	/* first the end, then the pipes: all that it wrote before its end is in them then */
	all = reap(child);
	send_input(child);
	all &= drain(child, &child->err);
	all &= drain(child, &child->out);
	if (!all)
		return;

	/* descendants may hold the pipes open, but their output does not count */
	end_line(child, true);
	end_line(child, false);
	close_all(child);
}

void
cudal1_child_signal(Cudal1Child *child, int number)
{
	if (child->pid == 0)
		return;
	(void) kill(child->pid, number);
	if (number == SIGKILL)
		(void) kill(-child->pid, SIGKILL);
}

void
cudal1_child_end(Cudal1Child *child)
{
	struct timespec pause = {0, 1000000};

	cudal1_child_signal(child, SIGKILL);
	/* a process that a driver blocks does not die, and the host must not wait for it */
	for (int i = 0; i < KILL_WAIT_MS && !reap(child); i++)
		(void) nanosleep(&pause, NULL);
	if (child->pid != 0)
		forget(child);
	close_all(child);
	cudal1_buffer_free(&child->input);
	cudal1_buffer_free(&child->out_line);
	cudal1_buffer_free(&child->err_line);
}

const char *
cudal1_child_ending(const Cudal1Child *child)
{
	static char words[128];
	int			number = WTERMSIG(child->status);

	if (WIFSIGNALED(child->status))
		snprintf(words, sizeof(words), "was killed by signal %d (%s)", number, strsignal(number));
	else
		snprintf(words, sizeof(words), "ended with exit status %d", WEXITSTATUS(child->status));
	return words;
}
