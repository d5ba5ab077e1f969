/*
 * calls.c
 *		The system calls that a sandbox lets through.
 *
 * The table lists what is allowed, so that a call which a newer kernel brings is closed until a
 * line opens it. A line's reason says which code needs the call, and why it takes nothing that
 * others share. A call without a line fails with ENOSYS, as in a kernel that does not have it,
 * because libraries are written for that. EPERM is for what older libraries expect to be refused.
 * A call that only an attack makes ends the process, so that the attack is seen: a process, a
 * signal to another one, the network. So do the numbers of the kernel's
 * other interfaces, i386 and x32.
 *
 * A call whose arguments match no line gets ENOSYS as well, because libseccomp has one action for
 * all that no rule names. `strace -f` shows what a program calls.
 */
#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "process/executor.h"

typedef enum CallAction
{
	CALL_ALLOWED,
	CALL_MISSING,				/* ENOSYS: no line, or other arguments than its lines name */
	CALL_REFUSED,				/* EPERM */
	CALL_PRETENDED,				/* 0, and nothing is done */
	CALL_KILLED,				/* SIGSYS ends the process */
} CallAction;

/* A condition: the masked argument is one of the values. */
typedef struct CallCondition
{
	unsigned int argument;
	uint64_t	mask;			/* 0: no condition */
	const uint64_t *values;
	size_t		n;
} CallCondition;

/* lines of the same call are alternatives, the conditions of a line hold together */
typedef struct CallLine
{
	const char *classes;
	CallAction	action;
	const char *names;			/* separated by blanks */
	const char *reason;
	CallCondition when[2];
} CallLine;

#define MAX_ENTRIES	600
#define BITS_32		UINT64_C(0xFFFFFFFF)	/* the kernel looks at 32 bits of most arguments */
#define BITS_64		UINT64_MAX

/* clang-format off */
#define VALUES(...) (const uint64_t[]){__VA_ARGS__}
#define ONE_OF(argument, mask, ...) \
	{argument, mask, VALUES(__VA_ARGS__), sizeof(VALUES(__VA_ARGS__)) / sizeof(uint64_t)}

#define NAMESPACES (CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC \
					| CLONE_NEWUTS | CLONE_NEWCGROUP)
#define A_THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)
#define UNCOUNTED (MAP_GROWSDOWN | MAP_HUGETLB)

/* in linux/mman.h, linux/prctl.h and asm/prctl.h since 5.14 to 6.13 */
#define ADVICE_POPULATE_READ		22
#define ADVICE_POPULATE_WRITE		23
#define ADVICE_GUARD_INSTALL		102
#define ADVICE_GUARD_REMOVE			103
#define OPTION_SET_VMA				0x53564d41
#define OPTION_GET_AUXV				0x41555856
#define TILES_SUPPORTED				0x1021
#define TILES_PERMITTED				0x1022
#define TILES_WANTED				0x1023
#define CET_STATUS					0x3001
#define SHADOW_STACK_STATUS			0x5005

/* of ioctl(2): all of type 'F' for /dev/nvidiactl and /dev/nvidia0; for /dev/nvidia-uvm the rest */
#define TYPE_BITS			0xFF00
#define NVIDIA_TYPE			0x4600
#define UVM_NUMBERS			0xFF
#define UVM_INITIALIZE		0x30000001
#define UVM_DEINITIALIZE	0x30000002

#define A_RUNS_OPTIONS \
	PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_CAPBSET_READ, PR_GET_NO_NEW_PRIVS, \
	PR_GET_THP_DISABLE, PR_GET_SPECULATION_CTRL, OPTION_SET_VMA, OPTION_GET_AUXV

static const CallLine lines[] = {
	/* Calls that every process needs. */
	{"LCTGBD", CALL_ALLOWED,
		"read readv write writev close close_range dup dup2 dup3 lseek fstat",
	"descriptors that it has; a limit bounds what it prints"},
	{"LCTGBD", CALL_ALLOWED,
		"munmap mprotect brk",
	"memory of its own, counted by limits"},
	{"LCGBD", CALL_ALLOWED,
		"mremap",
	"memory of its own; PyTorch may not move pages, because noise is written where results lay"},
	{"LCTGBD", CALL_ALLOWED,
		"futex futex_waitv set_robust_list rseq set_tid_address exit exit_group restart_syscall"
		" sched_yield getcpu",
	"threads, and what a process that was stopped goes on with"},
	{"LCTGBD", CALL_ALLOWED,
		"rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend"
		" sigaltstack pause tgkill",
	"signals of its own threads; guard.c keeps tgkill to these, and from SIGCONT and SIGSTOP"},
	{"LCTGBD", CALL_ALLOWED,
		"clock_gettime clock_getres gettimeofday time times nanosleep clock_nanosleep getrusage",
	"clocks, mostly read without a call; a pause is within the turn"},
	{"LCTGBD", CALL_ALLOWED,
		"alarm setitimer getitimer",
	"three timers a process, each of which fires at most once while it is stopped"},
	{"LCTGBD", CALL_ALLOWED,
		"poll ppoll select pselect6",
	"news of its descriptors, or a pause"},
	{"LCTGBD", CALL_ALLOWED,
		"getpid gettid getppid getpgrp getpgid getsid getuid geteuid getgid getegid getresuid"
		" getresgid getgroups uname sysinfo getrandom capget",
	"what it is and where; glibc sorts by the size of memory"},
	{"LCTGBD", CALL_ALLOWED,
		"getrlimit sched_getaffinity sched_getattr sched_getparam sched_getscheduler"
		" sched_get_priority_max sched_get_priority_min sched_rr_get_interval getpriority",
	"what it has; libraries look before they start threads"},
	{"LCTG", CALL_ALLOWED,
		"prlimit64",
		"likewise; guard.c keeps it to its own limits",
	{ONE_OF(2, BITS_64, 0)}},
	{"LCTGBD", CALL_ALLOWED,
		"madvise",
		"allocators; nothing takes shared pages from others, is work for the kernel's threads, or"
		" makes pages clean, whose writing the kernel then shows (MADV_FREE)",
		{ONE_OF(2, BITS_32, MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED,
				MADV_DONTNEED, MADV_DONTFORK, MADV_DOFORK, MADV_HUGEPAGE,
				MADV_NOHUGEPAGE, MADV_DONTDUMP, MADV_DODUMP, MADV_WIPEONFORK, MADV_KEEPONFORK,
				ADVICE_POPULATE_READ, ADVICE_POPULATE_WRITE, ADVICE_GUARD_INSTALL,
	ADVICE_GUARD_REMOVE)}},
	{"LCTGBD", CALL_ALLOWED,
		"membarrier",
		"compilers in a process; interrupts its own threads alone",
		{ONE_OF(0, BITS_32, MEMBARRIER_CMD_QUERY, MEMBARRIER_CMD_PRIVATE_EXPEDITED,
				MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
				MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE,
	MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE)}},
	{"LCTGBD", CALL_ALLOWED,
		"arch_prctl",
		"state of its own threads; the tiles of a processor have to be asked for",
		{ONE_OF(0, BITS_32, ARCH_SET_GS, ARCH_SET_FS, ARCH_GET_FS, ARCH_GET_GS, TILES_SUPPORTED,
	TILES_PERMITTED, TILES_WANTED, CET_STATUS, SHADOW_STACK_STATUS)}},
	{"LCTG", CALL_ALLOWED,
		"prctl",
		"names of threads and of memory, and looks",
	{ONE_OF(0, BITS_32, A_RUNS_OPTIONS)}},

	/* memory that no limit counts is closed: without a file but shared, growing down, huge pages */
	{"LCT", CALL_ALLOWED,
		"mmap",
		"memory of its own, counted by limits, and files",
	{ONE_OF(3, UNCOUNTED | MAP_SHARED | MAP_ANONYMOUS, 0, MAP_SHARED, MAP_ANONYMOUS)}},
	{"G", CALL_ALLOWED,
		"mmap",
		"page-locked memory of the driver is shared without a file",
	{ONE_OF(3, UNCOUNTED, 0)}},
	{"BD", CALL_ALLOWED,
		"mmap",
		"memory of a build is limited for each process",
	{ONE_OF(3, MAP_HUGETLB, 0)}},
	{"LCTG", CALL_KILLED,
		"memfd_create shmget shmat msgget semget mq_open inotify_init1",
	"memory past the limits, messages"},

	/* threads and processes */
	{"LCTG", CALL_ALLOWED,
		"clone",
		"threads that share all there is, as those of libraries do",
	{ONE_OF(0, NAMESPACES | CLONE_VFORK | A_THREAD, A_THREAD)}},
	{"LCTG", CALL_KILLED,
		"clone",
		"a process",
	{ONE_OF(0, CLONE_THREAD, 0)}},
	{"LCTG", CALL_KILLED,
		"clone",
		"a wait for the other thread that no signal ends",
	{ONE_OF(0, CLONE_THREAD | CLONE_VFORK, CLONE_THREAD | CLONE_VFORK)}},
	{"LCTG", CALL_KILLED,
		"fork vfork execve execveat",
	"a process"},
	{"LCTG", CALL_KILLED,
		"kill tkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open pidfd_send_signal",
	"signals to others"},
	{"LCTG", CALL_REFUSED,
		"setpgid setsid",
	"a session of its own"},
	{"LCTGB", CALL_REFUSED,
		"sched_setaffinity sched_setscheduler sched_setparam sched_setattr setpriority ioprio_set",
	"other cores, a larger share of them; what a build runs is beside measurements"},
	{"D", CALL_ALLOWED,
		"sched_setaffinity sched_setscheduler sched_setparam sched_setattr setpriority ioprio_set",
	"the driver of a GPU is not known to do without"},
	{"BD", CALL_ALLOWED,
		"clone",
		"compilers are many processes, each its parent's child",
	{ONE_OF(0, NAMESPACES | CLONE_PARENT, 0)}},
	{"BD", CALL_ALLOWED,
		"fork vfork execve execveat wait4 waitid setpgid setsid kill tkill pidfd_open"
		" pidfd_send_signal",
	"compilers are many processes; none outside is in reach"},
	{"G", CALL_ALLOWED,
		"wait4 waitid",
	"libraries ask for the end of a process; there is none"},
	{"BD", CALL_ALLOWED,
		"pipe pipe2 eventfd eventfd2 connect bind listen accept accept4 shutdown getsockname"
		" getpeername getsockopt",
	"what the processes of a build tell each other"},
	{"BD", CALL_ALLOWED,
		"memfd_create",
		"likewise",
	{ONE_OF(1, MFD_HUGETLB, 0)}},
	{"BD", CALL_ALLOWED,
		"setrlimit prlimit64",
	"shells and interpreters lower limits; executors set their own"},
	{"LBD", CALL_ALLOWED,
		"seccomp",
		"executors set their filters; for a listener a call would wait where no signal ends it",
		{ONE_OF(0, BITS_32, SECCOMP_SET_MODE_FILTER),
	ONE_OF(1, BITS_32, 0, SECCOMP_FILTER_FLAG_TSYNC)}},
	{"L", CALL_ALLOWED,
		"prctl",
		"goes with a filter",
	{ONE_OF(0, BITS_32, PR_SET_NO_NEW_PRIVS)}},
	{"BD", CALL_ALLOWED,
		"prctl",
		"executors close themselves; interpreters start processes that end with them",
	{ONE_OF(0, BITS_32, A_RUNS_OPTIONS, PR_SET_NO_NEW_PRIVS, PR_SET_DUMPABLE, PR_SET_PDEATHSIG)}},

	/* the supervisor's socket, and no other */
	{"LCTGBD", CALL_ALLOWED,
		"sendto recvfrom",
	"commands and replies; a run can't make a socket"},
	{"TGBD", CALL_ALLOWED,
		"recvmsg",
	"memory for inputs is handed over; sending descriptors is closed, a user has few under way"},
	{"LCTG", CALL_KILLED,
		"socket socketpair connect bind listen accept accept4",
	"the network, other processes"},
	{"BD", CALL_ALLOWED,
		"socket socketpair",
		"processes of a build; the memory of TCP is the host's, vsock reaches past namespaces",
	{ONE_OF(0, BITS_32, AF_UNIX)}},

	/* files */
	{"LTGBD", CALL_ALLOWED,
		"open openat access faccessat faccessat2 stat lstat newfstatat statx readlink readlinkat"
		" getcwd pread64",
	"libraries and modules; all mounts are read-only but the folders of a build"},
	{"C", CALL_REFUSED,
		"open openat openat2 creat",
	"a file; libraries that ask for the number of cores go on without"},
	{"C", CALL_ALLOWED,
		"newfstatat",
		"glibc's fstat",
	{ONE_OF(3, AT_EMPTY_PATH, AT_EMPTY_PATH)}},
	{"TGBD", CALL_ALLOWED,
		"preadv preadv2 pwrite64 pwritev pwritev2 getdents getdents64 statfs fstatfs chdir fchdir"
		" umask mincore",
	"what interpreters and their libraries do with files"},
	{"TGBD", CALL_ALLOWED,
		"mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2",
	"caches, which libraries make where they can; in a run a read-only mount refuses them"},
	{"TG", CALL_PRETENDED,
		"flock",
	"nothing writes to caches in a run; files of the host are everyone's, and a lock is seen"},
	{"BD", CALL_ALLOWED,
		"flock creat link linkat symlink symlinkat chmod fchmod fchmodat chown lchown fchown"
		" fchownat utime utimes futimesat utimensat truncate ftruncate fallocate sendfile"
		" copy_file_range splice getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr",
	"what compilers do in their folders"},
	{"LCTGBD", CALL_REFUSED,
		"setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr",
	"attributes take the kernel's memory; programs that copy files go on without"},
	{"BD", CALL_PRETENDED,
		"fsync fdatasync fadvise64",
	"the order of writes and the cache of files are the host's; a build outlives no crash of it"},
	{"GBD", CALL_ALLOWED,
		"msync",
		"tells whether memory is mapped",
	{ONE_OF(2, MS_SYNC, 0)}},
	{"BD", CALL_PRETENDED,
		"msync",
		"as fsync",
	{ONE_OF(2, MS_SYNC, MS_SYNC)}},
	{"LCTGBD", CALL_ALLOWED,
		"fcntl",
		"descriptors that it has; not locks, larger pipes, signals when there is news",
		{ONE_OF(1, BITS_32, F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_GETPIPE_SZ,
	F_GET_SEALS)}},
	{"LCTGBD", CALL_ALLOWED,
		"fcntl",
		"likewise",
	{ONE_OF(1, BITS_32, F_SETFL), ONE_OF(2, O_ASYNC, 0)}},
	{"BD", CALL_ALLOWED,
		"fcntl",
		"locks of caches in the folders of a build",
		{ONE_OF(1, BITS_32, F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW,
	F_ADD_SEALS)}},
	{"LCTGBD", CALL_ALLOWED,
		"ioctl",
		"whether a descriptor is a terminal, and its flags",
	{ONE_OF(1, BITS_32, TCGETS, TIOCGWINSZ, TIOCGPGRP, FIOCLEX, FIONCLEX, FIONBIO, FIONREAD)}},
	{"TGBD", CALL_ALLOWED,
		"epoll_create epoll_create1",
	"Python tries it on import"},
	{"BD", CALL_ALLOWED,
		"epoll_ctl epoll_wait epoll_pwait epoll_pwait2",
	"interpreters wait for processes; watches are counted by user, so a run has none"},

	{"TG", CALL_ALLOWED,
		"chmod fchmod fchmodat utimensat truncate ftruncate",
	"libraries that keep files in the process's own folder"},
	{"M", CALL_ALLOWED,
		"mount capset",
	"the parent's forks mount their folder, then give up the right to, before they load code"},
	{"M", CALL_ALLOWED,
		"unshare",
		"likewise",
	{ONE_OF(0, BITS_32, CLONE_NEWNS)}},

	/* the driver of a GPU */
	{"GD", CALL_ALLOWED,
		"ioctl",
		"commands to the driver",
	{ONE_OF(1, TYPE_BITS, NVIDIA_TYPE)}},
	{"GD", CALL_ALLOWED,
		"ioctl",
		"commands to the driver, for managed memory",
	{ONE_OF(1, BITS_32 & ~UVM_NUMBERS, 0)}},
	{"GD", CALL_ALLOWED,
		"ioctl",
		"likewise",
	{ONE_OF(1, BITS_32, UVM_INITIALIZE, UVM_DEINITIALIZE)}},
	{"G", CALL_ALLOWED,
		"pipe pipe2 eventfd eventfd2",
	"how the driver's threads are told of events"},
	{"GD", CALL_ALLOWED,
		"get_mempolicy set_mempolicy mbind",
	"the driver places its memory by the node of the GPU"},
	{"D", CALL_ALLOWED,
		"mlock mlock2 munlock timerfd_create timerfd_settime timerfd_gettime timer_create"
		" timer_settime timer_gettime timer_getoverrun timer_delete",
	"the driver is not known to do without when it starts"},
};
/* clang-format on */

/* A call of a line. */
typedef struct CallEntry
{
	const CallLine *line;
	const char *name;			/* with what follows it in the line */
	int			number;
} CallEntry;

static CallEntry entries[MAX_ENTRIES];
static size_t nentries;

/* Finds the calls of all lines; those that this libseccomp does not know stay closed. */
static void
find_calls(void)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		for (const char *name = lines[i].names; *name; name += strspn(name, " "))
		{
			char		copy[64];
			size_t		length = strcspn(name, " ");
			int			number;

			snprintf(copy, sizeof(copy), "%.*s", (int) length, name);
			number = seccomp_syscall_resolve_name(copy);
			if (number >= 0 && nentries < MAX_ENTRIES)
				entries[nentries++] = (CallEntry) {&lines[i], name, number};
			name += length;
		}
}

static uint32_t
filter_action(CallAction action)
{
	if (action == CALL_ALLOWED)
		return SCMP_ACT_ALLOW;
	if (action == CALL_KILLED)
		return SCMP_ACT_KILL_PROCESS;
	return SCMP_ACT_ERRNO(action == CALL_REFUSED ? EPERM : action == CALL_PRETENDED ? 0 : ENOSYS);
}

static struct scmp_arg_cmp
compared(const CallCondition *when, size_t i)
{
	return SCMP_CMP(when->argument, SCMP_CMP_MASKED_EQ, when->mask, when->values[i]);
}

/* a rule for each pair of values */
static bool
add_rules(scmp_filter_ctx context, uint32_t action, int number, const CallCondition when[2])
{
	const CallCondition *first = &when[0];
	const CallCondition *second = &when[1];

	if (first->mask == 0)
		return seccomp_rule_add(context, action, number, 0) == 0;
	for (size_t i = 0; i < first->n; i++)
	{
		struct scmp_arg_cmp a = compared(first, i);

		if (second->mask == 0 && seccomp_rule_add(context, action, number, 1, a) != 0)
			return false;
		for (size_t j = 0; second->mask != 0 && j < second->n; j++)
			if (seccomp_rule_add(context, action, number, 2, a, compared(second, j)) != 0)
				return false;
	}
	return true;
}

bool
calls_export(const char *classes, int fd)
{
	scmp_filter_ctx context = seccomp_init(filter_action(CALL_MISSING));

	/* a tree of numbers, because a list costs a call with conditions 50 ns more */
	bool		good = context
		&& seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0
		&& seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2) == 0;

	if (nentries == 0)
		find_calls();
	for (size_t i = 0; good && i < nentries; i++)
		if (strpbrk(entries[i].line->classes, classes))
			good = add_rules(context, filter_action(entries[i].line->action), entries[i].number,
							 entries[i].line->when);
	good = good && seccomp_export_bpf(context, fd) == 0;
	if (context)
		seccomp_release(context);
	return good;
}
