/*
 * Child programs.
 *
 * Nothing of the server may reach the child, and the child's end may not reach the server:
 *
 * - between fork and exec only calls that are safe in a signal handler, on strings made before the fork; the way out is
 *   _exit, since exit would run the server's callbacks in the child and take the worker's place in shared memory away;
 * - every descriptor but the three pipes is closed: PostgreSQL 15 opens relation files and WAL without O_CLOEXEC, and
 *   a program that holds them can write to them whatever sandbox it is put in afterwards;
 * - signals are blocked around the fork, so that no handler of the worker runs in the child and sets the worker's latch;
 * - a session of its own keeps the postmaster's signals to process groups away, so the parent-death signal takes their
 *   place; it is lost if the parent died before it was asked for, hence the look at getppid;
 * - under memory pressure the kernel is told to take the child first, never the server.
 *
 * A pidfd says when the child has ended; there is no SIGCHLD handler and no blocking wait. A zombie keeps its process
 * number, so the whole session is killed before the zombie is collected. What a child leaves behind (sandboxes put themselves
 * between) falls to the worker, which collects it when it has ended: not every host has an init that would.
 */
#include "postgres.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "child.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* of one turn, so that one talkative child does not keep the others waiting */
#define READ_BUDGET (256 * 1024)
/* lines of standard error that reach the log in ten seconds */
#define LOG_WINDOW_MS 10000
#define LOG_LINES 20
#define LOG_LINE_BYTES 1000

#define CHILD_FDS 4
#define KILL_WAIT_MS 1000

static int	epoll_descriptor = -1;

/* children that are polled; all other zombies are what they left behind */
#define MAX_ALIVE 1024
static pid_t alive[MAX_ALIVE];
static int	nalive = 0;

int64
cudal1_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int
cudal1_children_epoll(void)
{
	if (epoll_descriptor < 0)
	{
		epoll_descriptor = epoll_create1(EPOLL_CLOEXEC);
		if (epoll_descriptor < 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not create an epoll descriptor: %m")));
		ReserveExternalFD();
	}
	return epoll_descriptor;
}

static void
watch(int fd, uint32 events)
{
	struct epoll_event event = {.events = events,.data.fd = fd};

	if (epoll_ctl(cudal1_children_epoll(), EPOLL_CTL_ADD, fd, &event) < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not watch a child program: %m")));
}

static bool
is_alive(pid_t pid)
{
	for (int i = 0; i < nalive; i++)
	{
		if (alive[i] == pid)
			return true;
	}
	return false;
}

static void
strike_off(pid_t pid)
{
	for (int i = 0; i < nalive; i++)
	{
		if (alive[i] == pid)
		{
			alive[i] = alive[--nalive];
			return;
		}
	}
}

void
cudal1_children_adopt(void)
{
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		elog(LOG, "could not become the parent of orphans: %m");
}

void
cudal1_children_collect(void)
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
	if (*fd < 0)
		return;
	close(*fd);
	*fd = -1;
	ReleaseExternalFD();
}

/* ---- start ---- */

typedef struct Launch
{
	char	  **argv;
	char	  **environment;
	const char *scratch;
	int			in;
	int			out;
	int			err;
	pid_t		parent;
	const char *failure;		/* what to print when exec fails, made before the fork */
} Launch;

static void
close_from_three(void)
{
	if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0)
		return;
	for (long fd = sysconf(_SC_OPEN_MAX) - 1; fd >= 3; fd--)
		close((int) fd);
}

static void
write_text(int fd, const char *text)
{
	ssize_t		ignored = write(fd, text, strlen(text));

	(void) ignored;
}

/* moves the three pipe ends out of the way of 0, 1 and 2 first, as the parent may have had those closed */
static bool
adopt_pipes(const Launch *launch)
{
	int			ends[3] = {launch->in, launch->out, launch->err};

	for (int i = 0; i < 3; i++)
	{
		ends[i] = fcntl(ends[i], F_DUPFD, 3);
		if (ends[i] < 0)
			return false;
	}
	for (int i = 0; i < 3; i++)
	{
		if (dup2(ends[i], i) < 0)
			return false;
	}
	return true;
}

/* in the child; only async-signal-safe calls from here on */
static void
become(const Launch *launch)
{
	struct sigaction standard;
	sigset_t	none;
	int			fd;

	setsid();
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != launch->parent)
		_exit(126);

	memset(&standard, 0, sizeof(standard));
	standard.sa_handler = SIG_DFL;
	for (int signal = 1; signal < NSIG; signal++)
		(void) sigaction(signal, &standard, NULL);

	if (!adopt_pipes(launch))
		_exit(126);
	close_from_three();

	fd = open("/proc/self/oom_score_adj", O_WRONLY);
	if (fd >= 0)
	{
		write_text(fd, "900\n");
		close(fd);
	}
	if (chdir(launch->scratch) < 0 && chdir("/") < 0)
		_exit(126);
	umask(077);
	sigemptyset(&none);
	(void) sigprocmask(SIG_SETMASK, &none, NULL);
	execve(launch->argv[0], launch->argv, launch->environment);
	write_text(2, launch->failure);
	_exit(127);
}

/* nothing of the server's environment but the search path and what begins with pass; no PG*, no LD_* */
static char **
child_environment(const char *scratch, const char *pass)
{
	const char *path = getenv("PATH");
	char	  **environment;
	int			n = 6;

	for (char **e = environ; *e != NULL; e++)
		n += pass != NULL && strncmp(*e, pass, strlen(pass)) == 0;
	environment = palloc0(sizeof(char *) * n);

	environment[0] = psprintf("PATH=%s", path != NULL && path[0] != '\0' ? path : "/usr/local/bin:/usr/bin:/bin");
	environment[1] = "LANG=C";
	environment[2] = "LC_ALL=C";
	environment[3] = psprintf("HOME=%s", scratch);
	environment[4] = psprintf("TMPDIR=%s", scratch);
	n = 5;
	for (char **e = environ; *e != NULL; e++)
	{
		if (pass != NULL && strncmp(*e, pass, strlen(pass)) == 0)
			environment[n++] = *e;
	}
	return environment;
}

static void
close_pair(int pair[2])
{
	if (pair[0] >= 0)
		close(pair[0]);
	if (pair[1] >= 0)
		close(pair[1]);
}

static bool
acquire_descriptors(void)
{
	for (int i = 0; i < CHILD_FDS; i++)
	{
		if (!AcquireExternalFD())
		{
			while (i-- > 0)
				ReleaseExternalFD();
			return false;
		}
	}
	return true;
}

bool
cudal1_child_start(Cudal1Child *child, const char *label, char **argv, const char *scratch, const char *pass,
				   const char *input, int input_length,
				   cudal1_line_callback on_line, void *owner, char **problem)
{
	Launch		launch;
	int			in[2] = {-1, -1};
	int			out[2] = {-1, -1};
	int			err[2] = {-1, -1};
	sigset_t	all;
	sigset_t	before;
	pid_t		pid;
	MemoryContext previous;

	if (nalive >= MAX_ALIVE)
	{
		*problem = pstrdup("too many children");
		return false;
	}
	if (access(argv[0], X_OK) != 0)
	{
		*problem = psprintf("cannot run \"%s\": %m", argv[0]);
		return false;
	}
	if (!acquire_descriptors())
	{
		*problem = pstrdup("too many open files: raise max_files_per_process");
		return false;
	}
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0 ||
		fcntl(in[1], F_SETFL, O_NONBLOCK) < 0 || fcntl(out[0], F_SETFL, O_NONBLOCK) < 0 ||
		fcntl(err[0], F_SETFL, O_NONBLOCK) < 0)
	{
		*problem = psprintf("cannot make pipes: %m");
		goto failed;
	}

	launch.argv = argv;
	launch.environment = child_environment(scratch, pass);
	launch.scratch = scratch;
	launch.in = in[0];
	launch.out = out[1];
	launch.err = err[1];
	launch.parent = getpid();
	launch.failure = psprintf("could not execute \"%s\"\n", argv[0]);

	sigfillset(&all);
	(void) sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		become(&launch);
	(void) sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
	{
		*problem = psprintf("cannot fork: %m");
		goto failed;
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	in[0] = out[1] = err[1] = -1;

	memset(child, 0, sizeof(*child));
	child->pid = pid;
	child->in = in[1];
	child->out = out[0];
	child->err = err[0];
	child->pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (child->pidfd < 0)
	{
		/* since Linux 5.3; without it nobody would tell us of the end */
		*problem = psprintf("cannot open a pidfd: %m");
		(void) kill(pid, SIGKILL);
		(void) waitpid(pid, NULL, 0);
		child->pid = 0;
		goto failed;
	}
	alive[nalive++] = pid;
	strlcpy(child->label, label, sizeof(child->label));
	child->on_line = on_line;
	child->owner = owner;

	/* from here on an error leaves a child that the caller's cleanup can find */
	child->context = AllocSetContextCreate(TopMemoryContext, "cudal1 child", ALLOCSET_DEFAULT_SIZES);
	previous = MemoryContextSwitchTo(child->context);
	initStringInfo(&child->out_line);
	initStringInfo(&child->err_line);
	child->input = palloc(Max(input_length, 1));
	memcpy(child->input, input, input_length);
	child->input_length = input_length;
	child->input_room = Max(input_length, 1);
	MemoryContextSwitchTo(previous);

	watch(child->pidfd, EPOLLIN);
	watch(child->out, EPOLLIN);
	watch(child->err, EPOLLIN);
	watch(child->in, EPOLLOUT);
	child->input_watched = true;
	return true;

failed:
	close_pair(in);
	close_pair(out);
	close_pair(err);
	for (int i = 0; i < CHILD_FDS; i++)
		ReleaseExternalFD();
	return false;
}

/* ---- pipes ---- */

static void
send_input(Cudal1Child *child)
{
	while (child->in >= 0 && child->input_sent < child->input_length)
	{
		ssize_t		n = write(child->in, child->input + child->input_sent, child->input_length - child->input_sent);

		if (n > 0)
			child->input_sent += n;
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		else
		{
			/* the child does not want it: its end will say why */
			child->input_open = false;
			break;
		}
	}
	if (!child->input_open)
		close_end(&child->in);
	else if (child->in >= 0 && child->input_watched)
	{
		/* an empty pipe is always writable, so it is watched only while there is something to send */
		(void) epoll_ctl(cudal1_children_epoll(), EPOLL_CTL_DEL, child->in, NULL);
		child->input_watched = false;
	}
}

void
cudal1_child_keep_input(Cudal1Child *child)
{
	child->input_open = true;
}

void
cudal1_child_send(Cudal1Child *child, const char *data, int length)
{
	if (child->in < 0 || !child->input_open)
		return;
	if (child->input_sent > 0)
	{
		child->input_length -= child->input_sent;
		memmove(child->input, child->input + child->input_sent, child->input_length);
		child->input_sent = 0;
	}
	if (child->input_room - child->input_length < length)
	{
		child->input_room = Max(child->input_length + length, child->input_room < MaxAllocSize / 2 ? child->input_room * 2 : 0);
		child->input = repalloc_huge(child->input, child->input_room);
	}
	memcpy(child->input + child->input_length, data, length);
	child->input_length += length;
	if (!child->input_watched)
	{
		watch(child->in, EPOLLOUT);
		child->input_watched = true;
	}
}

void
cudal1_child_end_input(Cudal1Child *child)
{
	child->input_open = false;
	send_input(child);
}

static void
log_dropped(Cudal1Child *child)
{
	if (child->log_dropped > 0)
		ereport(LOG,
				(errmsg("%s: %d more lines", child->label, child->log_dropped)));
	child->log_dropped = 0;
}

/* a line of standard error, made fit for the log whatever bytes it holds */
static void
log_line(Cudal1Child *child)
{
	char	   *line = child->err_line.data;
	int			length = Min(child->err_line.len, LOG_LINE_BYTES);
	int64		now = cudal1_clock_ms();

	if (now - child->log_window > LOG_WINDOW_MS)
	{
		log_dropped(child);
		child->log_window = now;
		child->log_lines = 0;
	}
	if (length > 0 && child->log_lines < LOG_LINES)
	{
		child->log_lines++;
		for (int i = 0; i < length; i++)
		{
			if ((unsigned char) line[i] < 0x20 || (unsigned char) line[i] >= 0x7f)
				line[i] = line[i] == '\t' ? ' ' : '?';
		}
		ereport(LOG,
				(errmsg("%s: %.*s%s", child->label, length, line,
						child->err_line.len > LOG_LINE_BYTES ? " ..." : "")));
	}
	else if (length > 0)
		child->log_dropped++;
	resetStringInfo(&child->err_line);
}

static void
take_err(Cudal1Child *child, const char *data, ssize_t n)
{
	for (ssize_t i = 0; i < n; i++)
	{
		if (data[i] == '\n')
			log_line(child);
		else if (child->err_line.len <= LOG_LINE_BYTES)
			appendStringInfoChar(&child->err_line, data[i]);
	}
}

static void
take_out(Cudal1Child *child, const char *data, ssize_t n)
{
	child->out_bytes += n;
	while (n > 0)
	{
		const char *end = memchr(data, '\n', n);
		ssize_t		length = end != NULL ? end - data : n;

		if (child->out_line.len + length > (child->max_line > 0 ? child->max_line : CUDAL1_MAX_LINE))
		{
			child->overlong = true;
			resetStringInfo(&child->out_line);
		}
		else
			appendBinaryStringInfo(&child->out_line, data, length);
		if (end == NULL)
			return;
		if (!child->overlong && child->out_line.len > 0)
			child->on_line(child->owner, child->out_line.data, child->out_line.len);
		resetStringInfo(&child->out_line);
		n -= length + 1;
		data = end + 1;
	}
}

/* reads what is there; true when the pipe is empty for now or closed */
static bool
drain(Cudal1Child *child, int *fd, void (*take) (Cudal1Child *, const char *, ssize_t))
{
	static char buffer[65536];
	int			budget = READ_BUDGET;

	while (*fd >= 0 && budget > 0)
	{
		ssize_t		n = read(*fd, buffer, sizeof(buffer));

		if (n > 0)
		{
			budget -= n;
			take(child, buffer, n);
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

/* collects the child if it has ended; its session, which may outlive it, ends with it */
static bool
reap(Cudal1Child *child)
{
	siginfo_t	info;

	if (child->pid == 0)
		return true;
	memset(&info, 0, sizeof(info));
	if (waitid(P_PID, child->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
	{
		if (errno == EINTR)
			return false;
		/* someone else collected it; how it ended is lost */
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
cudal1_child_poll(Cudal1Child *child)
{
	bool		ended;

	if (child->gone)
		return;

	/* first the end, then the pipes: what it wrote before it ended is then surely in them */
	ended = reap(child);
	send_input(child);
	if (drain(child, &child->err, take_err) & drain(child, &child->out, take_out))
		child->gone = ended;
	child->closed = child->out < 0;
	if (!child->gone)
		return;

	/* descendants may hold the pipes open; nothing of theirs is awaited */
	if (child->err_line.len > 0)
		log_line(child);
	log_dropped(child);
	if (child->out_line.len > 0 && !child->overlong)
		child->on_line(child->owner, child->out_line.data, child->out_line.len);
	resetStringInfo(&child->out_line);
	close_end(&child->in);
	close_end(&child->out);
	close_end(&child->err);
}

void
cudal1_child_signal(Cudal1Child *child, int signal)
{
	if (child->pid == 0)
		return;
	(void) kill(child->pid, signal);
	if (signal == SIGKILL)
		(void) kill(-child->pid, SIGKILL);
}

void
cudal1_child_kill(Cudal1Child *child)
{
	if (child->pid != 0)
	{
		cudal1_child_signal(child, SIGKILL);
		/* a process stuck in a driver does not die; the server must not wait for it */
		for (int i = 0; i < KILL_WAIT_MS && waitpid(child->pid, &child->status, WNOHANG) == 0; i++)
			pg_usleep(1000);
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
cudal1_child_free(Cudal1Child *child)
{
	if (child->context != NULL)
		MemoryContextDelete(child->context);
	child->context = NULL;
}

char *
cudal1_child_ending(const Cudal1Child *child)
{
	if (WIFSIGNALED(child->status))
		return psprintf("was killed by signal %d (%s)", WTERMSIG(child->status), pg_strsignal(WTERMSIG(child->status)));
	return psprintf("ended with exit status %d", WEXITSTATUS(child->status));
}

bool
cudal1_child_is_running(const Cudal1Child *child)
{
	return child->pid != 0;
}
