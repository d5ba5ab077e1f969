/*
 * refused.c
 *		Names the system calls of a command that a sandbox would not let through.
 *
 * For honest code that fails in a sandbox, and for drivers of GPUs, because no manual lists the
 * calls they make. The filter is that of a run, but asks this process about all it would refuse,
 * which notes it and has the kernel go on. So a command is followed to its end whatever it does,
 * with all its processes, and needs no privilege for it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/calls.h"
#include "process/refused.h"

#define MAX_SEEN	1000
#define QUERY		0xFFFFFFFF	/* personality(2) */

typedef struct Seen
{
	int			number;
	bool		running;
	CallAction	action;
	bool		by_argument;	/* whether the table looks at one */
	unsigned int argument;
	uint64_t	value;
	unsigned long times;
} Seen;

/* calls are told apart by the argument that the table looks at */
static Seen seen[MAX_SEEN];
static size_t nseen;

/* which argument the lines of a call look at first */
static bool
looks_at(int number, unsigned int *argument)
{
	size_t		n;
	const CallEntry *table = calls_table(&n);

	for (size_t i = 0; i < n; i++)
		if (table[i].number == number && table[i].line->when[0].mask != 0)
		{
			*argument = table[i].line->when[0].argument;
			return true;
		}
	return false;
}

static void
note(char class, bool running, const struct seccomp_data *data)
{
	uint64_t	arguments[6];
	Seen		call = {.number = data->nr,.running = running,.times = 1};

	memcpy(arguments, data->args, sizeof(arguments));
	call.action = calls_action(class, data->nr, arguments);
	if (call.action == CALL_ALLOWED || call.action == CALL_PRETENDED)
		return;
	call.by_argument = looks_at(data->nr, &call.argument);
	if (call.by_argument)
		call.value = arguments[call.argument];
	for (size_t i = 0; i < nseen; i++)
		if (seen[i].number == call.number && seen[i].running == running
			&& seen[i].value == call.value)
		{
			seen[i].times++;
			return;
		}
	if (nseen < MAX_SEEN)
		seen[nseen++] = call;
}

static void
print_seen(void)
{
	static const char *const actions[] = {
		[CALL_MISSING] = "ENOSYS",
		[CALL_REFUSED] = "EPERM",
		[CALL_KILLED] = "SIGSYS",
	};

	for (size_t i = 0; i < nseen; i++)
	{
		char	   *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, seen[i].number);

		printf("%s: %s (%d)", seen[i].running ? "run" : "start", name ? name : "?", seen[i].number);
		if (seen[i].by_argument)
			printf(", argument %u = %#llx", seen[i].argument, (unsigned long long) seen[i].value);
		printf(", %lu times: %s\n", seen[i].times, actions[seen[i].action]);
		free(name);
	}
	if (nseen == 0)
		puts("nothing would be refused");
}

/* until the last process is gone */
static void
follow(int listener, bool gpu)
{
	struct pollfd ready = {.fd = listener,.events = POLLIN};
	bool		running = false;

	while (poll(&ready, 1, -1) >= 0 || errno == EINTR)
	{
		struct seccomp_notif call = {0};
		struct seccomp_notif_resp answer = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

		if (!(ready.revents & POLLIN))
		{
			if (ready.revents)
				break;
			continue;
		}
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
			continue;
		if (call.data.nr == SYS_personality && (uint32_t) call.data.args[0] == QUERY)
			running = true;
		else if (running)
			note(gpu ? CALLS_GPU : CALLS_TORCH, true, &call.data);
		else
			note(gpu ? CALLS_BUILD_GPU : CALLS_BUILD, false, &call.data);
		answer.id = call.id;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

static bool
read_filter(bool gpu, struct sock_fprog *filter)
{
	int			fd = memfd_create("filter", MFD_CLOEXEC);
	bool		good = fd >= 0 && calls_export(gpu ? CALLS_GPU : CALLS_TORCH, true, fd);
	off_t		bytes = good ? lseek(fd, 0, SEEK_END) : 0;

	filter->len = (unsigned short) (bytes / (off_t) sizeof(struct sock_filter));
	filter->filter = malloc((size_t) bytes);
	good = good && filter->filter && pread(fd, filter->filter, (size_t) bytes, 0) == bytes;
	if (fd >= 0)
		close(fd);
	return good;
}

int
refused_list(const char *device_class, char **command)
{
	bool		gpu = strcmp(device_class, "gpu") == 0;
	struct sock_fprog filter;
	int			listener = -1;
	int			ends[2];
	int			status;
	pid_t		pid;

	if (!gpu && strcmp(device_class, "cpu") != 0)
	{
		fprintf(stderr, "cudal1-measure: no class %s; there are cpu and gpu\n", device_class);
		return 2;
	}
	if (!read_filter(gpu, &filter) || pipe(ends) != 0)
		return 126;
	/* descriptors are shared until it executes the command: its filter's listener is ours */
	pid = (pid_t) syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
	{
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		listener = (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
								 SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
		if (write(ends[1], &listener, sizeof(listener)) == sizeof(listener) && listener >= 0)
			execvp(command[0], command);
		perror(command[0]);
		_exit(127);
	}
	if (pid < 0 || read(ends[0], &listener, sizeof(listener)) != sizeof(listener) || listener < 0)
	{
		fprintf(stderr, "cudal1-measure: calls can't be followed here: %s\n", strerror(errno));
		return 126;
	}
	follow(listener, gpu);
	waitpid(pid, &status, 0);
	print_seen();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
