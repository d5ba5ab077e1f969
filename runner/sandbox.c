/*
 * sandbox.c
 *		Starts a program in a bubblewrap sandbox.
 *
 * Two filters, because two trust levels: the outer one, applied by bubblewrap, keeps a compiler or an interpreter from reaching
 * out of its namespaces; the inner ones are applied by the executor itself right before and after it loads a candidate, take
 * process creation, signals, sockets and (for C) files away, and end the process on a try, so that a try is seen. What runs as the
 * same user within a sandbox (bubblewrap's process 1, a forking parent) would be open to a candidate through /proc: so there is no
 * /proc, or no such process and no memory that is dumpable.
 * What an executor may not do is listed, rather than what it may: PyTorch and CUDA use too many calls to list.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "sandbox.h"

#define BWRAP "bwrap"
#define SECCOMP_TARGET_FD 20
#define MAX_ARGUMENTS 256
#define FILTER_FLAG_NEW_LISTENER 8	/* of seccomp(2), in linux/seccomp.h since 5.0 */
#ifndef PR_SCHED_CORE
#define PR_SCHED_CORE	62
#endif

/* refused everywhere: ways out of the namespaces, into the kernel, or into other processes */
static const char *const outer_denied[] = {
	"mount", "umount2", "pivot_root", "chroot", "mount_setattr", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick",
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd",
	"add_key", "request_key", "keyctl", "bpf", "perf_event_open", "io_uring_setup", "io_uring_enter", "io_uring_register",
	"userfaultfd", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot", "swapon", "swapoff",
	"setns", "unshare", "acct", "quotactl", "open_by_handle_at", "name_to_handle_at", "iopl", "ioperm", "modify_ldt", "syslog",
	"lookup_dcookie", "fanotify_init", "fanotify_mark", "memfd_secret", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex",
	"sethostname", "setdomainname", "vhangup", "move_pages", "migrate_pages", NULL
};

/* in executors, and where there is no GPU, whose driver is not known to do without, in builds: those run beside measurements */
static const char *const placing_refused[] = {
	"sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "setpriority", "ioprio_set", NULL
};

/* a candidate that tries one of these ends: it creates processes, signals others, reaches for the network */
static const char *const inner_killed[] = {
	"fork", "vfork", "execve", "execveat", "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4",
	"kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open", "pidfd_send_signal",
	"memfd_create", "shmget", "shmat", "msgget", "semget", "mq_open", "inotify_init1", NULL
};

/* these fail quietly, since libraries try them in good faith */
static const char *const inner_refused[] = {
	"setpgid", "setsid",
	/* timers fire on the core while their owner is stopped, and there may be thousands; setitimer has three */
	"timer_create", NULL
};

/* likewise, where there is no GPU, whose driver is not known to do without: timers behind descriptors, news of files, holes in them */
static const char *const inner_refused_cpu[] = {
	"timerfd_create", "inotify_init", "fallocate", NULL
};

/*
 * Advice that takes shared pages from others: who maps the slots too has to fault each in again, which made a reference slower by a third.
 */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif
static const int advice_refused[] = {MADV_REMOVE, MADV_PAGEOUT, MADV_COLLAPSE};

/*
 * What makes the kernel signal whoever asked. With SIGCONT, when anyone on the host reads a file or a terminal has worked through a
 * line, a process that is stopped would be awake in the other side's turn. Drivers of GPUs need none of them.
 */
static const int signals_refused[] = {F_SETSIG, F_SETOWN, F_SETOWN_EX, F_NOTIFY, F_SETLEASE};
static const int signal_requests_refused[] = {FIOASYNC, FIOSETOWN, SIOCSPGRP};

static const char *const file_openers[] = {"open", "openat", "openat2", "creat", NULL};

static bool
add_rules(scmp_filter_ctx context, uint32_t action, const char *const *names)
{
	for (; *names; names++)
	{
		int			number = seccomp_syscall_resolve_name(*names);

		if (number != __NR_SCMP_ERROR && seccomp_rule_add(context, action, number, 0) < 0)
			return false;
	}
	return true;
}

static bool
add_outer(scmp_filter_ctx context)
{
	bool		good = add_rules(context, SCMP_ACT_ERRNO(EPERM), outer_denied);

	/* clone3 hides its flags from filters; glibc falls back to clone */
	good = good && seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
	good = good && seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
									SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER)) == 0;
	good = good && seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
									SCMP_A1(SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, 0x5412 /* TIOCSTI */ )) == 0;
	/* a cookie that keeps others off the sibling of its core */
	good = good && seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), 1,
									SCMP_A0(SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, PR_SCHED_CORE)) == 0;
	return good;
}

static bool
add_advice(scmp_filter_ctx context)
{
	bool		good = true;

	for (size_t i = 0; i < sizeof(advice_refused) / sizeof(advice_refused[0]); i++)
		good = good && seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(madvise), 1,
										SCMP_A2(SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, (scmp_datum_t) advice_refused[i])) == 0;
	return good;
}

static bool
add_signals(scmp_filter_ctx context)
{
	bool		good = true;

	for (size_t i = 0; i < sizeof(signals_refused) / sizeof(signals_refused[0]); i++)
		good = good && seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(fcntl), 1,
										SCMP_A1(SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, (scmp_datum_t) signals_refused[i])) == 0;
	good = good && seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(fcntl), 2,
									SCMP_A1(SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, F_SETFL), SCMP_A2(SCMP_CMP_MASKED_EQ, O_ASYNC, O_ASYNC)) == 0;
	for (size_t i = 0; i < sizeof(signal_requests_refused) / sizeof(signal_requests_refused[0]); i++)
		good = good && seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
										SCMP_A1(SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, (scmp_datum_t) signal_requests_refused[i])) == 0;
	/* a thread could have the others go on while they are being stopped */
	return good && seccomp_rule_add(context, SCMP_ACT_KILL_PROCESS, SCMP_SYS(tgkill), 1,
									SCMP_A2(SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, SIGCONT)) == 0;
}

static bool
export_filter(scmp_filter_ctx context, int fd, bool with_length)
{
	uint32_t	length;
	off_t		start = lseek(fd, 0, SEEK_END);

	if (with_length && write(fd, "\0\0\0\0", 4) != 4)
		return false;
	if (seccomp_export_bpf(context, fd) < 0)
		return false;
	if (with_length)
	{
		length = (uint32_t) (lseek(fd, 0, SEEK_END) - start - 4);
		if (pwrite(fd, &length, 4, start) != 4)
			return false;
	}
	return true;
}

static int
outer_filter(bool gpu)
{
	int			fd = memfd_create("filter", MFD_CLOEXEC);
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
	bool		good = fd >= 0 && context && add_outer(context) && (gpu || add_rules(context, SCMP_ACT_ERRNO(EPERM), placing_refused))
		&& export_filter(context, fd, false);

	if (context)
		seccomp_release(context);
	if (!good)
		return -1;
	lseek(fd, 0, SEEK_SET);
	return fd;
}

int
sandbox_guard_filters(bool opens_files, bool gpu)
{
	int			fd = memfd_create("filters", MFD_CLOEXEC);
	bool		good = fd >= 0;

	for (int stage = 0; good && stage < 2; stage++)
	{
		scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);

		good = context != NULL;
		if (stage == 0)
		{
			good = good && add_outer(context)
				&& add_rules(context, SCMP_ACT_KILL_PROCESS, inner_killed)
				&& add_rules(context, SCMP_ACT_ERRNO(EPERM), placing_refused)
				&& add_rules(context, SCMP_ACT_ERRNO(EPERM), inner_refused)
				&& add_signals(context)
				&& (gpu || (add_rules(context, SCMP_ACT_ERRNO(EPERM), inner_refused_cpu) && add_advice(context)))
				&& seccomp_rule_add(context, SCMP_ACT_KILL_PROCESS, SCMP_SYS(clone), 1,
									SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)) == 0
			/* waits for the other thread in a state that no signal stops */
				&& seccomp_rule_add(context, SCMP_ACT_KILL_PROCESS, SCMP_SYS(clone), 1,
									SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_VFORK, CLONE_VFORK)) == 0
			/* nor does one stop a call that waits for the listener of a filter */
				&& seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(seccomp), 1,
									SCMP_A1(SCMP_CMP_MASKED_EQ, FILTER_FLAG_NEW_LISTENER, FILTER_FLAG_NEW_LISTENER)) == 0
			/* memory of others stays closed, and the end of the sandbox is the end; the kernel looks at 32 bits of the option */
				&& seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), 1,
									SCMP_A0(SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, PR_SET_DUMPABLE)) == 0
				&& seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), 1,
									SCMP_A0(SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, PR_SET_PDEATHSIG)) == 0
			/* stacks and shared anonymous memory escape RLIMIT_DATA; but such is page-locked memory of the CUDA driver */
				&& seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(mmap), 1,
									SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_GROWSDOWN, MAP_GROWSDOWN)) == 0
				&& (gpu || seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(mmap), 1,
											SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_SHARED | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS)) == 0);
		}
		else if (!opens_files)
			good = good && add_rules(context, SCMP_ACT_KILL_PROCESS, file_openers);
		good = good && export_filter(context, fd, true);
		if (context)
			seccomp_release(context);
	}
	if (!good)
	{
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

typedef struct Arguments
{
	const char *v[MAX_ARGUMENTS];
	int			n;
} Arguments;

static void
push(Arguments *arguments, const char *argument)
{
	if (arguments->n < MAX_ARGUMENTS - 1)
		arguments->v[arguments->n++] = argument;
	arguments->v[arguments->n] = NULL;
}

static void
push3(Arguments *arguments, const char *a, const char *b, const char *c)
{
	push(arguments, a);
	push(arguments, b);
	push(arguments, c);
}

static bool
exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

static void
bwrap_arguments(const Sandbox *sandbox, Arguments *arguments, char *tmp_size, char *filter_number)
{
	static const char *const links[] = {"bin", "sbin", "lib", "lib32", "lib64"};
	static const char *const etc[] = {"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"};
	static char link_path[5][8],
				link_target[5][16];

	push(arguments, BWRAP);
	push(arguments, "--unshare-all");
	push(arguments, "--unshare-user");
	push(arguments, "--disable-userns");
	push(arguments, "--die-with-parent");
	push(arguments, "--new-session");
	push(arguments, "--clearenv");
	push3(arguments, "--cap-drop", "ALL", "--hostname");
	push(arguments, "sandbox");
	push3(arguments, "--ro-bind", "/usr", "/usr");
	for (int i = 0; i < 5; i++)
	{
		struct stat st;

		snprintf(link_path[i], sizeof(link_path[i]), "/%s", links[i]);
		snprintf(link_target[i], sizeof(link_target[i]), "usr/%s", links[i]);
		if (lstat(link_path[i], &st) != 0)
			continue;
		if (S_ISLNK(st.st_mode))
			push3(arguments, "--symlink", link_target[i], link_path[i]);
		else
			push3(arguments, "--ro-bind", link_path[i], link_path[i]);
	}
	for (int i = 0; i < 4; i++)
		if (exists(etc[i]))
			push3(arguments, "--ro-bind", etc[i], etc[i]);
	if (!sandbox->no_proc)
	{
		push(arguments, "--proc");
		push(arguments, "/proc");
		/* where a process could make itself the last that the kernel ends for its memory; exec-cuda closes that to itself */
		if (sandbox->ndevices == 0)
		{
			push(arguments, "--remount-ro");
			push(arguments, "/proc");
		}
	}
	if (sandbox->first)
		push(arguments, "--as-pid-1");
	push(arguments, "--dev");
	push(arguments, "/dev");
	/* no terminals: the kernel works for them, and signals whose they are */
	push(arguments, "--tmpfs");
	push(arguments, "/dev/pts");
	push(arguments, "--remount-ro");
	push(arguments, "/dev/pts");
	for (int i = 0; i < sandbox->ndevices; i++)
		push3(arguments, "--dev-bind", sandbox->devices[i], sandbox->devices[i]);
	push(arguments, "--remount-ro");
	push(arguments, "/dev");
	if (sandbox->tmp_bytes > 0)
	{
		snprintf(tmp_size, 32, "%zu", sandbox->tmp_bytes);
		push(arguments, "--size");
		push(arguments, tmp_size);
		push(arguments, "--tmpfs");
		push(arguments, "/tmp");
	}
	for (int i = 0; i < sandbox->nbinds; i++)
		push3(arguments, sandbox->binds[i].writable ? "--bind" : "--ro-bind", sandbox->binds[i].path,
			  sandbox->binds[i].inside ? sandbox->binds[i].inside : sandbox->binds[i].path);
	push3(arguments, "--remount-ro", "/", "--chdir");
	push(arguments, sandbox->workdir ? sandbox->workdir : "/");
	for (const char *const *e = sandbox->environment; e && e[0]; e += 2)
		push3(arguments, "--setenv", e[0], e[1]);
	snprintf(filter_number, 16, "%d", SECCOMP_TARGET_FD);
	push(arguments, "--seccomp");
	push(arguments, filter_number);
	push(arguments, "--");
}

static void
limit(int resource, rlim_t value)
{
	struct rlimit r = {value, value};

	setrlimit(resource, &r);
}

/* between fork and exec: only what is safe in the child of a threaded program */
static void
child(const Sandbox *sandbox, const Arguments *arguments, int filter_fd, pid_t parent, char **plain_environment)
{
	int			null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int			fds[SANDBOX_MAX_FDS + 3];
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

	/* above every target first, so that no dup2 overwrites a source */
	for (int i = 0; i < sandbox->nfds; i++)
		fds[i] = fcntl(sandbox->fds[i], F_DUPFD_CLOEXEC, 64);
	fds[sandbox->nfds] = fcntl(sandbox->output_fd, F_DUPFD_CLOEXEC, 64);
	fds[sandbox->nfds + 1] = fcntl(filter_fd, F_DUPFD_CLOEXEC, 64);
	dup2(null_fd, 0);
	dup2(fds[sandbox->nfds], 1);
	dup2(fds[sandbox->nfds], 2);
	for (int i = 0; i < sandbox->nfds; i++)
		dup2(fds[i], 3 + i);
	for (int fd = 3 + sandbox->nfds; fd < 64; fd++)
		if (fd != SECCOMP_TARGET_FD)
			close(fd);
	dup2(fds[sandbox->nfds + 1], SECCOMP_TARGET_FD);
	syscall(SYS_close_range, 64, ~0U, 0);

	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, sandbox->ndevices > 0 ? 4096 : 256);
	if (sandbox->file_bytes > 0)
		limit(RLIMIT_FSIZE, sandbox->file_bytes);
	if (sandbox->data_bytes > 0)
		limit(RLIMIT_DATA, sandbox->data_bytes);
	if (sandbox->cpu_seconds > 0)
		limit(RLIMIT_CPU, (rlim_t) sandbox->cpu_seconds + 1);
	{
		int			fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

		if (fd >= 0 && write(fd, "1000", 4) == 4)
			close(fd);
	}
	if (sandbox->unsandboxed)
	{
		close(SECCOMP_TARGET_FD);
		if (sandbox->workdir && chdir(sandbox->workdir) != 0)
			_exit(126);
		execve(sandbox->argv[0], (char *const *) sandbox->argv, plain_environment);
	}
	else
	{
		/* its own process inside can be looked into, and none of ours is to be found there */
		environ = plain_environment;
		execvp(BWRAP, (char *const *) arguments->v);
	}
	_exit(127);
}

pid_t
sandbox_start(const Sandbox *sandbox)
{
	Arguments	arguments = {.n = 0};
	char		tmp_size[32],
				filter_number[16];
	char	   *plain[64];
	int			nplain = 0;
	pid_t		parent = getpid();
	pid_t		pid;
	int			filter_fd = outer_filter(sandbox->ndevices > 0);

	if (filter_fd < 0)
	{
		errno = ENOSYS;
		return -1;
	}
	bwrap_arguments(sandbox, &arguments, tmp_size, filter_number);
	for (const char *const *a = sandbox->argv; *a; a++)
		push(&arguments, *a);
	if (!sandbox->unsandboxed && getenv("PATH") && asprintf(&plain[nplain], "PATH=%s", getenv("PATH")) >= 0)
		nplain++;
	for (const char *const *e = sandbox->environment; sandbox->unsandboxed && e && e[0] && nplain < 63; e += 2)
		if (asprintf(&plain[nplain], "%s=%s", e[0], e[1]) >= 0)
			nplain++;
	plain[nplain] = NULL;
	pid = fork();
	if (pid == 0)
		child(sandbox, &arguments, filter_fd, parent, plain);
	for (int i = 0; i < nplain; i++)
		free(plain[i]);
	close(filter_fd);
	return pid;
}

bool
sandbox_wait(pid_t pid, double seconds, int *status)
{
	double		deadline = clock_now() + seconds;
	double		pause = 0.0002;

	for (;;)
	{
		pid_t		got = waitpid(pid, status, WNOHANG);

		if (got == pid || (got < 0 && errno != EINTR))
			return true;
		if (clock_now() >= deadline)
			return false;
		clock_sleep(pause);
		if (pause < 0.01)
			pause *= 1.5;
	}
}

int
sandbox_end(pid_t pid)
{
	int			status = 0;

	if (pid <= 0)
		return 0;
	if (waitpid(pid, &status, WNOHANG) == pid)
		return status;
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static char version[64];
static char problem[256];

static bool
run_and_read(const char *command, char *text, size_t size)
{
	FILE	   *pipe = popen(command, "r");
	size_t		length;

	if (!pipe)
		return false;
	length = fread(text, 1, size - 1, pipe);
	text[length] = '\0';
	while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' '))
		text[--length] = '\0';
	return pclose(pipe) == 0;
}

const char *
sandbox_version(void)
{
	if (version[0] == '\0' && !run_and_read(BWRAP " --version 2>/dev/null", version, sizeof(version)))
		strcpy(version, "none");
	return version;
}

/* the name and parent of a process; false if it is gone */
static bool
process_parent(const char *pid, char *name, size_t size, int *parent)
{
	char		path[300];
	char		text[512];
	int			fd;
	ssize_t		n;
	char	   *open_paren,
			   *close_paren;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	open_paren = strchr(text, '(');
	close_paren = strrchr(text, ')');
	if (!open_paren || !close_paren || sscanf(close_paren + 1, " %*c %d", parent) != 1)
		return false;
	snprintf(name, size, "%.*s", (int) (close_paren - open_paren - 1), open_paren + 1);
	return true;
}

/*
 * A supervisor killed while bubblewrap was starting leaves bubblewrap's first child behind, which waits for ever for a parent that
 * died before it could ask to die with it. Such a process is known by our options and by a parent that is none of ours.
 */
void
sandbox_sweep(void)
{
	static const char options[] = "bwrap\0--unshare-all\0--unshare-user\0--disable-userns\0--die-with-parent\0--new-session\0--clearenv\0"
		"--cap-drop\0ALL\0--hostname\0sandbox";
	DIR		   *processes = opendir("/proc");
	struct dirent *entry;

	while (processes && (entry = readdir(processes)) != NULL)
	{
		char		path[300];
		char		text[sizeof(options)];
		char		name[64];
		char		parent_pid[16];
		int			parent,
					grandparent;
		struct stat st;
		int			fd;
		ssize_t		n;

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9'
			|| !process_parent(entry->d_name, name, sizeof(name), &parent) || strcmp(name, "bwrap") != 0)
			continue;
		snprintf(parent_pid, sizeof(parent_pid), "%d", parent);
		if (!process_parent(parent_pid, name, sizeof(name), &grandparent) || strcmp(name, "bwrap") == 0
			|| strcmp(name, SANDBOX_SUPERVISOR) == 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		n = read(fd, text, sizeof(text));
		if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && n == (ssize_t) sizeof(options) && memcmp(text, options, sizeof(options)) == 0)
			kill((pid_t) atoi(entry->d_name), SIGKILL);
		close(fd);
	}
	if (processes)
		closedir(processes);
}

const char *
sandbox_problem(void)
{
	const char *const argv[] = {"/usr/bin/true", NULL};
	Sandbox		sandbox = {.argv = argv,.file_bytes = 1 << 20};
	int			null_fd;
	pid_t		pid;
	int			status = 0;

	if (strcmp(sandbox_version(), "none") == 0)
		return "bubblewrap is missing; install the package bubblewrap";
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	sandbox.output_fd = null_fd;
	pid = sandbox_start(&sandbox);
	if (pid < 0 || !sandbox_wait(pid, 10, &status))
	{
		snprintf(problem, sizeof(problem), "a sandbox does not start: %s", pid < 0 ? strerror(errno) : "no end within 10 s");
		sandbox_end(pid);
		close(null_fd);
		return problem;
	}
	close(null_fd);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return "bubblewrap can't make its namespaces; allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone, "
			"user.max_user_namespaces)";
	return NULL;
}
