/*
 * calls.c
 *		The filters let through what the table says, of every number and of arguments around those
 *		it names, and nothing else.
 *
 * Calls are made under the filter, but not carried out: an older filter answers with an error of
 * its own whatever the one that is tested lets through.
 */
#define _GNU_SOURCE
#include "../../runner/process/calls.c"

#include <linux/filter.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tap.h"

#define NUMBERS		601			/* 0 to 600; the kernel's last is 470 */
#define X32			0x40000000
#define MOST		200000		/* calls at once */
#define URETPROBE	335			/* with the next, of the kernel's probes: it may ask no filter */
#define LET_THROUGH 133			/* EHWPOISON, which none of these calls gives */
#define OUR_OWN		0x5afe		/* sixth argument of calls that the test itself needs */

#define CLASSES		"LCTGBD"
#define ANY_NUMBER	"every number from 0 to 600"

typedef struct Attempt
{
	long		number;
	bool		i386;
	uint64_t	argument[6];
	CallAction	found;
} Attempt;

static Attempt *attempts;		/* shared with the processes that make them */
static size_t *made;
static size_t n;

static void
try_table(void)
{
	const struct scmp_version *v = seccomp_version();
	bool		old = v->major * 10000 + v->minor * 100 + v->micro < 20504;
	bool		good = true;
	size_t		names = 0;

	find_calls();
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
	{
		for (const char *c = lines[i].names; *c; c++)
			names += c == lines[i].names || *c == ' ';
		good = good && strspn(lines[i].classes, CLASSES "M") == strlen(lines[i].classes)
			&& strlen(lines[i].reason) > 4;
	}
	check(good, "every line says for which filters it is, and why");
	check(names == nentries || old, "every name is a call's");
	good = true;
	for (size_t i = 0; i < nentries; i++)
		for (size_t j = 0; j < i; j++)
		{
			const CallLine *a = entries[i].line;
			const CallLine *b = entries[j].line;

			if (entries[i].number == entries[j].number && strpbrk(a->classes, b->classes)
				&& (a->when[0].mask == 0 || b->when[0].mask == 0))
			{
				printf("# two lines: %.20s\n", entries[i].name);
				good = false;
			}
		}
	check(good, "a call has one line for a filter, or lines with conditions");
}

static bool
holds(const CallCondition *when, const uint64_t *argument)
{
	for (size_t i = 0; i < when->n; i++)
		if ((argument[when->argument] & when->mask) == when->values[i])
			return true;
	return when->mask == 0;
}

static CallAction
action_of(char class, int number, const uint64_t argument[6])
{
	for (size_t i = 0; i < nentries; i++)
		if (entries[i].number == number && strchr(entries[i].line->classes, class)
			&& holds(&entries[i].line->when[0], argument)
			&& holds(&entries[i].line->when[1], argument))
			return entries[i].line->action;
	return CALL_MISSING;
}

/* what the table says */
static CallAction
expected(char class, const Attempt *attempt)
{
	if (attempt->i386 || attempt->number >= X32)
		return CALL_KILLED;
	return action_of(class, (int) attempt->number, attempt->argument);
}

static void
add(long number, bool i386, int argument, uint64_t value, int other, uint64_t other_value)
{
	if (n == MOST)
		abort();
	attempts[n] = (Attempt) {.number = number,.i386 = i386};
	attempts[n].argument[argument] = value;
	attempts[n++].argument[other] = other_value;
}

/* around what a condition names: other numbers, other bits, also some that the kernel ignores */
static size_t
values_around(const CallCondition *when, uint64_t *values)
{
	size_t		found = 0;

	if (when->mask == 0)
		values[found++] = 0;
	for (uint64_t value = 0; when->mask != 0 && value < 128; value++)
		values[found++] = value;
	for (size_t i = 0; i < when->n; i++)
		for (int bit = -1; bit < 34; bit++)
			values[found++] = when->values[i] ^ (bit < 0 ? 0 : UINT64_C(1) << bit);
	return found;
}

static void
add_arguments(char class)
{
	static uint64_t first[2000],
				second[2000];

	for (size_t i = 0; i < nentries; i++)
	{
		const CallCondition *when = entries[i].line->when;
		size_t		nfirst,
					nsecond;
		int			argument = (int) when[0].argument;
		int			other = when[1].mask != 0 ? (int) when[1].argument : 5;

		if (when[0].mask == 0 || !strchr(entries[i].line->classes, class))
			continue;
		nfirst = values_around(&when[0], first);
		nsecond = values_around(&when[1], second);
		for (size_t f = 0; f < nfirst; f++)
			for (size_t s = 0; s < nsecond; s++)
				add(entries[i].number, false, argument, first[f], other, second[s]);
	}
}

static long
call(const Attempt *attempt)
{
	const uint64_t *a = attempt->argument;

#ifdef __x86_64__
	if (attempt->i386)
	{
		long		result = attempt->number;

		__asm__ volatile("int $0x80"
						 : "+a"(result)
						 : "b"(0), "c"(0), "d"(0), "S"(0), "D"(0)
						 : "memory", "r8", "r9", "r10", "r11");

		return result;
	}
#endif
	return syscall(attempt->number, a[0], a[1], a[2], a[3], a[4], a[5]) == -1 ? -errno : 0;
}

static bool
install(struct sock_fprog *filter)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, filter, 0, 0, OUR_OWN) == 0;
}

/* from the next on, until one ends the process */
static void
make_attempts(struct sock_fprog *tested)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_OWN, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | LET_THROUGH),
	};
	struct sock_fprog answering = {sizeof(code) / sizeof(code[0]), code};
	long		status = 1;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && install(&answering) && install(tested))
	{
		while (*made < n)
		{
			Attempt    *attempt = &attempts[*made];
			long		result;

			attempt->found = CALL_KILLED;
			(*made)++;
			result = call(attempt);
			attempt->found = result == -LET_THROUGH ? CALL_ALLOWED
				: result == -ENOSYS ? CALL_MISSING
				: result == -EPERM ? CALL_REFUSED : CALL_PRETENDED;
		}
		status = 0;
	}
	syscall(SYS_exit_group, status, 0, 0, 0, 0, OUR_OWN);
}

static bool
try_class(char class)
{
	int			fd = memfd_create("filter", MFD_CLOEXEC);
	off_t		bytes;
	struct sock_fprog tested = {0};
	size_t		wrong = 0;

	n = *made = 0;
	for (long number = 0; number < NUMBERS; number++)
	{
		if (number != URETPROBE && number != URETPROBE + 1)
			add(number, false, 0, 0, 1, 0);
		add(number | X32, false, 0, 0, 1, 0);
		add(number, true, 0, 0, 1, 0);
	}
	add_arguments(class);
	if (!calls_export((const char[]) {class, 0}, fd))
		return false;
	bytes = lseek(fd, 0, SEEK_END);
	tested.len = (unsigned short) (bytes / (off_t) sizeof(struct sock_filter));
	tested.filter = malloc((size_t) bytes);
	if (pread(fd, tested.filter, (size_t) bytes, 0) != bytes)
		return false;
	close(fd);
	while (*made < n)
	{
		int			status;
		pid_t		pid = fork();

		if (pid == 0)
			make_attempts(&tested);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return false;
		if (WIFEXITED(status) ? WEXITSTATUS(status) != 0 : WTERMSIG(status) != SIGSYS)
			return false;
	}
	free(tested.filter);
	for (size_t i = 0; i < n; i++)
	{
		const Attempt *a = &attempts[i];

		if (a->found != expected(class, a) && wrong++ < 10)
			printf("# %s%ld(%#lx, %#lx, %#lx, %#lx): %d instead of %d\n", a->i386 ? "i386 " : "",
				   a->number, a->argument[0], a->argument[1], a->argument[2], a->argument[3],
				   a->found, expected(class, a));
	}
	printf("# %c: %zu calls, %d instructions\n", class, n, tested.len);
	return wrong == 0;
}

/* what no line may open, to anything in a sandbox */
static const char *const closed[] = {
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
	"mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen",
	"mount_setattr", "setns", "unshare", "clone3", "open_by_handle_at", "name_to_handle_at",
	"add_key", "request_key", "keyctl", "bpf", "perf_event_open", "io_uring_setup",
	"io_uring_enter", "io_uring_register", "io_setup", "io_submit", "userfaultfd", "memfd_secret",
	"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot",
	"swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "iopl", "ioperm", "modify_ldt",
	"syslog", "sync", "syncfs", "sync_file_range", "readahead", "move_pages", "migrate_pages",
	"settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname",
	"vhangup", "fanotify_init", "inotify_init", "inotify_init1", "sendmsg", "sendmmsg",
	"setsockopt", "shmget", "shmat", "semget", "msgget", "mq_open", "vmsplice", "remap_file_pages",
	"set_mempolicy_home_node", "process_mrelease", "mlockall", "personality", "mknod", "mknodat",
	"lookup_dcookie", "landlock_restrict_self",
};

static bool
none_is_open(void)
{
	bool		good = true;

	for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++)
		for (size_t j = 0; j < nentries; j++)
			if (entries[j].number == seccomp_syscall_resolve_name(closed[i])
				&& entries[j].line->action != CALL_KILLED
				&& strcmp(entries[j].line->classes, "M") != 0)
			{
				printf("# %s is open\n", closed[i]);
				good = false;
			}
	return good;
}

int
main(void)
{
	static const char *const promises[] = {
		"while C is loaded: " ANY_NUMBER,
		"in a run of C: " ANY_NUMBER,
		"in PyTorch: " ANY_NUMBER,
		"with a GPU: " ANY_NUMBER,
		"in a build: " ANY_NUMBER,
		"in a build with a GPU: " ANY_NUMBER,
	};

	attempts = mmap(NULL, MOST * sizeof(Attempt) + sizeof(size_t), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	made = (size_t *) (attempts + MOST);
	try_table();
	check(none_is_open(), "what reaches out of a sandbox is open to no code");
	for (int i = 0; CLASSES[i]; i++)
		check(try_class(CLASSES[i]), promises[i]);
	return done();
}
