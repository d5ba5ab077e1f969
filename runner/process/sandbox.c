/*
 * sandbox.c
 *		Starts a program in a bubblewrap sandbox.
 *
 * The outer filter, applied by bubblewrap, keeps a compiler or an interpreter from reaching out of
 * its namespaces. The inner ones, which an executor applies right before and after it loads a
 * candidate, take process creation, signals, sockets and (for C) files away (calls.c).
 *
 * Processes of the same user within a sandbox (bubblewrap's process 1, a forking parent) would be
 * open to a candidate through /proc. So there is no /proc, or no such process and no memory that is
 * dumpable.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/text.h"
#include "process/executor.h"

#define BWRAP "bwrap"
#define SECCOMP_TARGET_FD 20
#define SECCOMP_TARGET "20"
#define MAX_ARGUMENTS 256

/* docs/security.md names them; compilers and interpreters have these, executors less (guard.c) */
static const struct
{
	int			resource;
	rlim_t		value;
} limits[] = {
	{RLIMIT_CORE, 0},
	{RLIMIT_SIGPENDING, 256},
	{RLIMIT_MSGQUEUE, 0},
	{RLIMIT_NICE, 0},
	{RLIMIT_RTPRIO, 0},
};

/*
 * A file with the filter of these classes, and perhaps a second one behind an instruction of zeros,
 * which no filter has. -1: they can't be made
 */
static int
filter_file(const char *classes, const char *second)
{
	const struct sock_filter end = {0};
	int			fd = memfd_create("filter", MFD_CLOEXEC);

	if (fd >= 0 && calls_export(classes, fd)
		&& (!second || (write(fd, &end, sizeof(end)) == sizeof(end) && calls_export(second, fd)))
		&& lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int
sandbox_guard_filters(bool python, bool gpu)
{
	const char	first[] = {gpu ? CALLS_GPU : python ? CALLS_TORCH : CALLS_LOAD_C, '\0'};

	/* C on a CPU has a second one, because it does without files once it is loaded */
	return filter_file(first, gpu || python ? NULL : (const char[]) {CALLS_RUN_C, '\0'});
}

typedef struct Arguments
{
	const char *v[MAX_ARGUMENTS];
	int			n;
} Arguments;

/* each of a list that ends with NULL */
static void
push_all(Arguments *arguments, const char *const *list)
{
	for (; *list && arguments->n < MAX_ARGUMENTS - 1; list++)
		arguments->v[arguments->n++] = *list;
	arguments->v[arguments->n] = NULL;
}

#define PUSH(arguments, ...) push_all(arguments, (const char *const[]){__VA_ARGS__, NULL})

static void
bwrap_arguments(const Sandbox *sandbox, Arguments *arguments, char *tmp_size)
{
	PUSH(arguments, BWRAP, "--unshare-all", "--unshare-user", "--disable-userns",
		 "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL", "--hostname",
		 "sandbox", "--ro-bind", "/usr", "/usr",
		 "--symlink", "usr/bin", "/bin", "--symlink", "usr/sbin", "/sbin",
		 "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib32", "/lib32",
		 "--symlink", "usr/lib64", "/lib64",
		 "--ro-bind-try", "/etc/alternatives", "/etc/alternatives",
		 "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache",
		 "--ro-bind-try", "/etc/ld.so.conf", "/etc/ld.so.conf",
		 "--ro-bind-try", "/etc/ld.so.conf.d", "/etc/ld.so.conf.d");
	if (!sandbox->no_proc)
	{
		PUSH(arguments, "--proc", "/proc");
		/*
		 * By a writable /proc a process could make itself the last that the kernel ends for its
		 * memory; exec-cuda closes that to itself.
		 */
		if (sandbox->ndevices == 0)
			PUSH(arguments, "--remount-ro", "/proc");
	}
	if (sandbox->first)
		PUSH(arguments, "--as-pid-1");
	/* No terminals, for which the kernel works and sends signals. */
	PUSH(arguments, "--dev", "/dev", "--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts");
	for (int i = 0; i < sandbox->ndevices; i++)
		PUSH(arguments, "--dev-bind", sandbox->devices[i], sandbox->devices[i]);
	PUSH(arguments, "--remount-ro", "/dev");
	if (sandbox->tmp_bytes > 0)
	{
		snprintf(tmp_size, 32, "%zu", sandbox->tmp_bytes);
		PUSH(arguments, "--size", tmp_size, "--tmpfs", "/tmp");
	}
	/* An overlay needs the right to read what belongs to the only user inside. */
	if (sandbox->mount_point)
		PUSH(arguments, "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_DAC_OVERRIDE", "--dir",
			 sandbox->mount_point);
	if (sandbox->tmp_link)
		PUSH(arguments, "--symlink", sandbox->tmp_link, "/tmp");
	for (int i = 0; i < sandbox->nbinds; i++)
		PUSH(arguments, sandbox->binds[i].writable ? "--bind" : "--ro-bind",
			 sandbox->binds[i].path, sandbox->binds[i].inside ? sandbox->binds[i].inside
			 : sandbox->binds[i].path);
	PUSH(arguments, "--remount-ro", "/", "--chdir", sandbox->workdir ? sandbox->workdir : "/");
	for (const char *const *e = sandbox->environment; e[0]; e += 2)
		PUSH(arguments, "--setenv", e[0], e[1]);
	PUSH(arguments, "--seccomp", SECCOMP_TARGET, "--");
}

static void
limit(int resource, rlim_t value)
{
	struct rlimit r = {value, value};

	setrlimit(resource, &r);
}

/* between fork and exec; glibc lets the child of a threaded program allocate memory */
static void
child(const Sandbox *sandbox, const Arguments *arguments, int filter_fd, pid_t parent)
{
	const char *path = getenv("PATH");
	int			n = 3 + sandbox->nfds;
	int			fds[3 + SANDBOX_MAX_FDS] = {open("/dev/null", O_RDONLY), sandbox->output_fd,
	sandbox->output_fd};
	int			adjust;
	sigset_t	none;

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(126);
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (sandbox->cores)
		sched_setaffinity(0, sizeof(cpu_set_t), sandbox->cores);

	memcpy(fds + 3, sandbox->fds, (size_t) sandbox->nfds * sizeof(int));
	/* above every target first, so that no dup2 overwrites a source */
	for (int i = 0; i < n; i++)
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 64);
	filter_fd = fcntl(filter_fd, F_DUPFD_CLOEXEC, 64);
	for (int i = 0; i < n; i++)
		dup2(fds[i], i);
	syscall(SYS_close_range, n, 63, 0);
	dup2(filter_fd, SECCOMP_TARGET_FD);
	syscall(SYS_close_range, 64, ~0U, 0);

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		limit(limits[i].resource, limits[i].value);
	/* the driver of a GPU is not known to do without */
	if (sandbox->ndevices == 0)
		limit(RLIMIT_MEMLOCK, 0);
	limit(RLIMIT_NOFILE, sandbox->ndevices > 0 ? 4096 : 256);
	if (sandbox->file_bytes > 0)
		limit(RLIMIT_FSIZE, sandbox->file_bytes);
	if (sandbox->data_bytes > 0)
		limit(RLIMIT_DATA, sandbox->data_bytes);
	if (sandbox->cpu_seconds > 0)
		limit(RLIMIT_CPU, (rlim_t) sandbox->cpu_seconds + 1);
	adjust = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (adjust >= 0 && write(adjust, "1000", 4) == 4)
		close(adjust);
	/* Bubblewrap gets no other variable of ours, because code can look into its process. */
	clearenv();
	if (!sandbox->unsandboxed)
	{
		if (path)
			setenv("PATH", path, 1);
		execvp(BWRAP, (char *const *) arguments->v);
		_exit(127);
	}
	close(SECCOMP_TARGET_FD);
	for (const char *const *e = sandbox->environment; e[0]; e += 2)
		setenv(e[0], e[1], 1);
	if (sandbox->workdir && chdir(sandbox->workdir) != 0)
		_exit(126);
	execv(sandbox->argv[0], (char *const *) sandbox->argv);
	_exit(127);
}

pid_t
sandbox_start(const Sandbox *sandbox)
{
	Arguments	arguments = {.n = 0};
	char		tmp_size[32];
	pid_t		parent = getpid();
	pid_t		pid;
	int			filter_fd = filter_file((const char[]) {sandbox->ndevices > 0 ? CALLS_BUILD_GPU
										: CALLS_BUILD, sandbox->mount_point ? CALLS_MOUNT : '\0',
										'\0'}, NULL);

	if (filter_fd < 0)
	{
		errno = ENOSYS;
		return -1;
	}
	bwrap_arguments(sandbox, &arguments, tmp_size);
	push_all(&arguments, sandbox->argv);
	pid = fork();
	if (pid == 0)
		child(sandbox, &arguments, filter_fd, parent);
	close(filter_fd);
	return pid;
}

bool
sandbox_wait(pid_t pid, double seconds, int *status)
{
	struct pollfd p = {.fd = (int) syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};

	while (poll(&p, 1, (int) ceil(fmax(seconds, 0) * 1000)) < 0 && errno == EINTR)
		;
	if (p.fd >= 0)
		close(p.fd);
	return waitpid(pid, status, WNOHANG) != 0;
}

void
sandbox_end(pid_t pid)
{
	if (pid <= 0 || waitpid(pid, NULL, WNOHANG) == pid)
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static char version[64];
static char problem[256];

const char *
sandbox_version(void)
{
	if (version[0] == '\0'
		&& !text_first_line(BWRAP " --version 2>/dev/null", version, sizeof(version)))
		strcpy(version, "none");
	return version;
}

/*
 * A supervisor killed while bubblewrap was starting leaves bubblewrap's first child behind, which
 * could not ask yet to die with it. It is known by our options, and a parent that is none of ours.
 */
void
sandbox_sweep(void)
{
	static const char options[] =
		"bwrap\0--unshare-all\0--unshare-user\0--disable-userns\0--die-with-parent\0"
		"--new-session\0--clearenv\0"
		"--cap-drop\0ALL\0--hostname\0sandbox";
	DIR		   *processes = opendir("/proc");
	struct dirent *entry;

	while (processes && (entry = readdir(processes)) != NULL)
	{
		pid_t		pid = atoi(entry->d_name);
		ProcStat	own,
					parent;
		char		text[sizeof(options)];
		struct stat st;
		int			command;

		if (pid <= 0 || !proc_stat(pid, &own) || strcmp(own.name, BWRAP) != 0
			|| !proc_stat(own.parent, &parent) || strcmp(parent.name, BWRAP) == 0
			|| strcmp(parent.name, SANDBOX_SUPERVISOR) == 0)
			continue;
		command = proc_open(pid, "cmdline");
		if (command < 0)
			continue;
		if (fstat(command, &st) == 0 && st.st_uid == geteuid()
			&& read(command, text, sizeof(text)) == (ssize_t) sizeof(options)
			&& memcmp(text, options, sizeof(options)) == 0)
			kill(pid, SIGKILL);
		close(command);
	}
	if (processes)
		closedir(processes);
}

const char *
sandbox_problem(void)
{
	const char *const argv[] = {"/usr/bin/true", NULL};
	Sandbox		sandbox = {.argv = argv,.file_bytes = 1 << 20};
	pid_t		pid;
	int			status = 0;
	bool		ended;

	if (strcmp(sandbox_version(), "none") == 0)
		return "bubblewrap is missing; install the package bubblewrap";
	sandbox.output_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid = sandbox_start(&sandbox);
	ended = pid > 0 && sandbox_wait(pid, 10, &status);
	close(sandbox.output_fd);
	if (!ended)
	{
		snprintf(problem, sizeof(problem), "a sandbox does not start: %s",
				 pid < 0 ? strerror(errno) : "no end within 10 s");
		sandbox_end(pid);
		return problem;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return "bubblewrap can't make its namespaces; allow unprivileged user namespaces (sysctl "
			"kernel.unprivileged_userns_clone, "
			"user.max_user_namespaces)";
	return NULL;
}
