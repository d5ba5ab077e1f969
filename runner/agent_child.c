/*
 * agent_child.c
 *		The measuring program as a child.
 *
 * Nothing of the agent may reach it: the connection to the database above all, so every descriptor but the three pipes is
 * closed, the environment is made anew, and no password of a service file or PGPASSWORD is in it. It has a session of its own,
 * so that a terminal's signals pass it by, and dies with the agent by its parent-death signal, which is lost if the agent
 * died before it was asked for: hence the look at getppid.
 *
 * A pidfd says when it has ended. A zombie keeps its number, so the whole session is killed before the zombie is collected;
 * what it leaves behind falls to the agent, which collects it when it has ended.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "clock.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* of one turn, so that one talkative child does not keep the others waiting */
#define READ_BUDGET		(256 * 1024)
/* lines of standard error of one child that are logged, and their length */
#define LOG_LINES		50
#define LOG_BYTES		1000
#define MAX_ALIVE		1024

static pid_t alive[MAX_ALIVE];
static int	nalive = 0;

int
child_descriptor(void)
{
	static int	descriptor = -1;

	if (descriptor < 0)
	{
		descriptor = epoll_create1(EPOLL_CLOEXEC);
		if (descriptor < 0)
		{
			agent_log("no epoll descriptor: %s", strerror(errno));
			exit(1);
		}
		if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
			agent_log("could not become the parent of orphans: %s", strerror(errno));
	}
	return descriptor;
}

static bool
watch(int fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = fd};

	return epoll_ctl(child_descriptor(), EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool
is_alive(pid_t pid)
{
	for (int i = 0; i < nalive; i++)
		if (alive[i] == pid)
			return true;
	return false;
}

static void
strike_off(pid_t pid)
{
	for (int i = 0; i < nalive; i++)
		if (alive[i] == pid)
		{
			alive[i] = alive[--nalive];
			return;
		}
}

void
child_collect_orphans(void)
{
	for (;;)
	{
		siginfo_t	info;

		memset(&info, 0, sizeof(info));
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
			return;
		/* that one is polled, and the others are seen afterwards */
		if (is_alive(info.si_pid))
			return;
		(void) waitpid(info.si_pid, NULL, WNOHANG);
	}
}

/* closing takes a descriptor out of the epoll set, as no one else holds our end */
static void
close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- start ---- */

typedef struct
{
	char	  **argv;
	char	  **environment;
	int			ends[3];
	pid_t		parent;
	const char *failure;
} Launch;

static void
write_text(int fd, const char *text)
{
	ssize_t		ignored = write(fd, text, strlen(text));

	(void) ignored;
}

/* in the child; only what a signal handler may call from here on */
static void
become(const Launch *launch)
{
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
	/* out of the way of 0, 1 and 2 first, as the agent may have had those closed */
	for (int i = 0; i < 3; i++)
	{
		ends[i] = fcntl(launch->ends[i], F_DUPFD, 3);
		if (ends[i] < 0)
			_exit(126);
	}
	for (int i = 0; i < 3; i++)
		if (dup2(ends[i], i) < 0)
			_exit(126);
	if (syscall(SYS_close_range, 3U, ~0U, 0U) != 0)
		for (long i = sysconf(_SC_OPEN_MAX) - 1; i >= 3; i--)
			close((int) i);
	fd = open("/proc/self/oom_score_adj", O_WRONLY);
	if (fd >= 0)
	{
		write_text(fd, "900\n");
		close(fd);
	}
	if (chdir(agent_settings.scratch) < 0 && chdir("/") < 0)
		_exit(126);
	umask(077);
	sigemptyset(&none);
	(void) sigprocmask(SIG_SETMASK, &none, NULL);
	execve(launch->argv[0], launch->argv, launch->environment);
	write_text(2, launch->failure);
	_exit(127);
}

/* nothing of the agent's environment but the search path, and which GPUs a batch system gave to us */
static char **
make_environment(void)
{
	static const char *const passed[] = {"CUDA_HOME", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"};
	const char *path = getenv("PATH");
	char	  **environment = agent_alloc(sizeof(char *) * 10);
	int			n = 0;

	environment[n++] = agent_format("PATH=%s", path && path[0] ? path : "/usr/local/bin:/usr/bin:/bin");
	environment[n++] = agent_copy("LANG=C", 6);
	environment[n++] = agent_copy("LC_ALL=C", 8);
	environment[n++] = agent_format("HOME=%s", agent_settings.scratch);
	environment[n++] = agent_format("TMPDIR=%s", agent_settings.scratch);
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		if (getenv(passed[i]))
			environment[n++] = agent_format("%s=%s", passed[i], getenv(passed[i]));
	environment[n] = NULL;
	return environment;
}

bool
child_start(AgentChild *child, const char *label, char **argv, const char *input, void (*on_line)(void *, char *, size_t), void *owner)
{
	int			in[2] = {-1, -1},
				out[2] = {-1, -1},
				err[2] = {-1, -1};
	Launch		launch = {.argv = argv, .parent = getpid()};
	sigset_t	all,
				before;
	pid_t		pid = -1;

	memset(child, 0, sizeof(*child));
	child->pidfd = child->in = child->out = child->err = -1;
	child->gone = true;
	if (nalive >= MAX_ALIVE || access(argv[0], X_OK) != 0)
	{
		agent_log("cannot run %s: %s", argv[0], nalive >= MAX_ALIVE ? "too many children" : strerror(errno));
		return false;
	}
	launch.environment = make_environment();
	launch.failure = agent_format("could not execute %s\n", argv[0]);
	if (pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0 &&
		fcntl(in[1], F_SETFL, O_NONBLOCK) == 0 && fcntl(out[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(err[0], F_SETFL, O_NONBLOCK) == 0)
	{
		launch.ends[0] = in[0];
		launch.ends[1] = out[1];
		launch.ends[2] = err[1];
		sigfillset(&all);
		(void) sigprocmask(SIG_SETMASK, &all, &before);
		pid = fork();
		if (pid == 0)
			become(&launch);
		(void) sigprocmask(SIG_SETMASK, &before, NULL);
	}
	if (pid < 0)
		agent_log("cannot start %s: %s", argv[0], strerror(errno));
	else
	{
		child->pid = pid;
		child->pidfd = (int) syscall(SYS_pidfd_open, pid, 0);
		if (child->pidfd < 0)
		{
			/* since Linux 5.3; without it nobody would tell us of the end */
			agent_log("cannot open a pidfd: %s", strerror(errno));
			(void) kill(pid, SIGKILL);
			(void) waitpid(pid, NULL, 0);
			child->pid = 0;
		}
	}
	for (char **e = launch.environment; *e; e++)
		free(*e);
	free(launch.environment);
	free((char *) launch.failure);
	close_end(&in[0]);
	close_end(&out[1]);
	close_end(&err[1]);
	if (child->pid == 0)
	{
		close_end(&in[1]);
		close_end(&out[0]);
		close_end(&err[0]);
		return false;
	}
	alive[nalive++] = pid;
	child->in = in[1];
	child->out = out[0];
	child->err = err[0];
	child->gone = false;
	child->on_line = on_line;
	child->owner = owner;
	snprintf(child->label, sizeof(child->label), "%s", label);
	if (input)
	{
		child->input_length = strlen(input);
		child->input = agent_copy(input, child->input_length);
	}
	if (!watch(child->pidfd, EPOLLIN) || !watch(child->out, EPOLLIN) || !watch(child->err, EPOLLIN) ||
		(input && !watch(child->in, EPOLLOUT)))
	{
		agent_log("cannot watch %s: %s", label, strerror(errno));
		child_kill(child);
		child_free(child);
		return false;
	}
	if (!input)
		close_end(&child->in);
	return true;
}

/* ---- pipes ---- */

static void
append(AgentText *text, const char *data, size_t length)
{
	if (text->length + length + 1 > text->size)
	{
		text->size = (text->length + length + 1) * 2;
		text->data = realloc(text->data, text->size);
		if (!text->data)
		{
			agent_log("out of memory");
			exit(1);
		}
	}
	memcpy(text->data + text->length, data, length);
	text->length += length;
	text->data[text->length] = '\0';
}

static void
send_input(AgentChild *child)
{
	while (child->in >= 0 && child->input_sent < child->input_length)
	{
		ssize_t		n = write(child->in, child->input + child->input_sent, child->input_length - child->input_sent);

		if (n > 0)
			child->input_sent += (size_t) n;
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && errno == EAGAIN)
			return;
		else
			break;				/* the child does not want it: its end will say why */
	}
	close_end(&child->in);
}

/* a line of standard error, made fit for a log whatever bytes it holds */
static void
log_complaint(AgentChild *child)
{
	char	   *line = child->complaint.data;
	size_t		length = child->complaint.length < LOG_BYTES ? child->complaint.length : LOG_BYTES;

	if (length > 0 && child->logged++ < LOG_LINES)
	{
		for (size_t i = 0; i < length; i++)
			if ((unsigned char) line[i] < 0x20 || (unsigned char) line[i] >= 0x7f)
				line[i] = line[i] == '\t' ? ' ' : '?';
		agent_log("%s: %.*s", child->label, (int) length, line);
	}
	child->complaint.length = 0;
}

static void
take_err(AgentChild *child, const char *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		if (data[i] == '\n')
			log_complaint(child);
		else if (child->complaint.length < LOG_BYTES)
			append(&child->complaint, data + i, 1);
	}
}

static void
take_out(AgentChild *child, const char *data, size_t n)
{
	child->bytes += n;
	while (n > 0)
	{
		const char *end = memchr(data, '\n', n);
		size_t		length = end ? (size_t) (end - data) : n;

		if (child->line.length + length > AGENT_MAX_LINE)
		{
			child->overlong = true;
			child->line.length = 0;
		}
		else
			append(&child->line, data, length);
		if (!end)
			return;
		if (!child->overlong && child->line.length > 0)
			child->on_line(child->owner, child->line.data, child->line.length);
		child->line.length = 0;
		n -= length + 1;
		data = end + 1;
	}
}

/* reads what is there; true when the pipe is empty for now or closed */
static bool
drain(AgentChild *child, int *fd, void (*take)(AgentChild *, const char *, size_t))
{
	static char buffer[65536];
	ssize_t		budget = READ_BUDGET;

	while (*fd >= 0 && budget > 0)
	{
		ssize_t		n = read(*fd, buffer, sizeof(buffer));

		if (n > 0)
		{
			budget -= n;
			take(child, buffer, (size_t) n);
		}
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && errno == EAGAIN)
			return true;
		else
			close_end(fd);
	}
	return *fd < 0;
}

/* collects the child if it has ended; its session, which may outlive it, ends with it */
static bool
reap(AgentChild *child)
{
	siginfo_t	info;

	if (child->pid == 0)
		return true;
	memset(&info, 0, sizeof(info));
	if (waitid(P_PID, (id_t) child->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
	{
		if (errno == EINTR)
			return false;
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
	strike_off(child->pid);
	child->pid = 0;
	close_end(&child->pidfd);
	return true;
}

void
child_poll(AgentChild *child)
{
	bool		ended,
				err_empty,
				out_empty;

	if (child->gone)
		return;
	/* first the end, then the pipes: what it wrote before it ended is then surely in them */
	ended = reap(child);
	send_input(child);
	err_empty = drain(child, &child->err, take_err);
	out_empty = drain(child, &child->out, take_out);
	if (!ended || !err_empty || !out_empty)
		return;
	child->gone = true;
	/* descendants may hold the pipes open; nothing of theirs is awaited */
	log_complaint(child);
	if (child->line.length > 0 && !child->overlong)
		child->on_line(child->owner, child->line.data, child->line.length);
	child->line.length = 0;
	close_end(&child->in);
	close_end(&child->out);
	close_end(&child->err);
}

void
child_signal(AgentChild *child, int number)
{
	if (child->pid == 0)
		return;
	(void) kill(child->pid, number);
	if (number == SIGKILL)
		(void) kill(-child->pid, SIGKILL);
}

void
child_kill(AgentChild *child)
{
	if (child->pid != 0)
	{
		child_signal(child, SIGKILL);
		/* a process stuck in a driver does not die; nobody waits for it for long */
		for (int i = 0; i < 1000 && waitpid(child->pid, &child->status, WNOHANG) == 0; i++)
			clock_sleep(0.001);
		strike_off(child->pid);
		child->pid = 0;
	}
	close_end(&child->pidfd);
	close_end(&child->in);
	close_end(&child->out);
	close_end(&child->err);
	child->gone = true;
}

void
child_free(AgentChild *child)
{
	free(child->input);
	free(child->line.data);
	free(child->complaint.data);
	memset(&child->line, 0, sizeof(child->line));
	memset(&child->complaint, 0, sizeof(child->complaint));
	child->input = NULL;
}

char *
child_ending(const AgentChild *child)
{
	if (WIFSIGNALED(child->status))
		return agent_format("was killed by signal %d (%s)", WTERMSIG(child->status), strsignal(WTERMSIG(child->status)));
	return agent_format("ended with exit status %d", WEXITSTATUS(child->status));
}
