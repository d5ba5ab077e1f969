/*
 * guard.c
 *		The filters and limits an executor puts on itself before it loads a candidate.
 *
 * Linked into exec-c, and as libcudal1guard.so loaded by exec_torch.py. The filters arrive as plain
 * BPF, so that no library is needed inside the sandbox.
 */
#include <limits.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/pages.h"
#include "common/random.h"
#include "common/tensor.h"
#include "common/wire.h"
#include "executor/guard.h"

#define STACK_BYTES ((uint64_t) 64 << 20)
#define DESCRIPTORS 64
#define GPU_DESCRIPTORS 2048	/* the CUDA driver needs more */
#define PAGE_BYTES 4096
#define MOST_PAGES 65536		/* of an output, that are looked at */
#define FEW_PAGES 32			/* are touched without asking whether they are there */

static struct sock_fprog program[2];

int
cudal1_guard_read(void)
{
	const struct sock_filter end = {0};
	struct stat file;
	struct sock_filter *code;
	size_t		first = 0;
	size_t		n;

	if (fstat(WIRE_FD_FILTER, &file) != 0)
		return -1;
	program[0].filter = code = malloc((size_t) file.st_size);
	/* by position, because others read the same open file at the same time */
	if (!code || pread(WIRE_FD_FILTER, code, (size_t) file.st_size, 0) != file.st_size)
		return -1;
	n = (size_t) file.st_size / sizeof(*code);
	while (first < n && memcmp(&code[first], &end, sizeof(end)) != 0)
		first++;
	program[0].len = (unsigned short) first;
	if (first < n)
		program[1] = (struct sock_fprog) {(unsigned short) (n - first - 1), code + first + 1};
	return close(WIRE_FD_FILTER);
}

static int
limit(int resource, uint64_t value)
{
	struct rlimit r = {value, value};

	return setrlimit(resource, &r);
}

/* the soft limit, which new threads take for their own, stays */
static int
limit_stack(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_STACK, &r) != 0)
		return -1;
	r.rlim_cur = r.rlim_cur < STACK_BYTES ? r.rlim_cur : STACK_BYTES;
	r.rlim_max = r.rlim_max < STACK_BYTES ? r.rlim_max : STACK_BYTES;
	return setrlimit(RLIMIT_STACK, &r);
}

static int
apply(const struct sock_fprog *filter)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, filter);
}

/*
 * Filters calls that a process may make for itself and not for its forked siblings or their parent,
 * which have the same user: signals to threads, limits. Other filters are made before its number is
 * known. Threads may not resume others that are being stopped. Nor may they stop them, because a
 * process that is stopped when its limit has passed is measured once more.
 */
static int
apply_own(void)
{
	uint32_t	self = (uint32_t) getpid();
	uint32_t	number = offsetof(struct seccomp_data, nr);
	uint32_t	target = offsetof(struct seccomp_data, args);
	uint32_t	signal = offsetof(struct seccomp_data, args[2]);
	struct sock_filter own[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 7),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, signal),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SIGCONT, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SIGSTOP, 3, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, target),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, self, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(own) / sizeof(own[0]), own};

	return apply(&filter);
}

int
cudal1_guard_memory(uint64_t data, uint64_t space)
{
	FILE	   *file = fopen("/proc/self/statm", "re");
	unsigned long size = 0;		/* in pages; without a /proc the process is small */
	unsigned long own = 0;		/* the stack included */

	if (file)
	{
		(void) !fscanf(file, "%lu %*u %*u %*u %*u %lu", &size, &own);
		fclose(file);
	}
	if (space > 0 && limit(RLIMIT_AS, size * PAGE_BYTES + space) != 0)
		return -1;
	return limit(RLIMIT_DATA, own * PAGE_BYTES + data);
}

int
cudal1_guard_files(const char *lower, const char *at)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};
	const unsigned long flags = MS_NOSUID | MS_NODEV;
	char		upper[PATH_MAX];
	char		work[PATH_MAX];
	char		hidden[PATH_MAX];
	char		options[4 * PATH_MAX];

	snprintf(hidden, sizeof(hidden), "%s", lower);
	snprintf(upper, sizeof(upper), "%s/upper", at);
	snprintf(work, sizeof(work), "%s/work", at);
	snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s,userxattr", lower, upper,
			 work);
	if (unshare(CLONE_NEWNS) != 0
		|| mount("files", at, "tmpfs", flags, "size=64m,nr_inodes=16384,mode=700") != 0)
		return -1;
	if (lower[0])
	{
		if (mkdir(upper, 0700) != 0 || mkdir(work, 0700) != 0)
			return -1;
		/* Without overlays for users in the kernel, code finds its build and can't write. */
		if (mount("files", at, "overlay", flags, options) != 0
			&& mount(lower, at, NULL, MS_BIND, NULL) != 0)
			return -1;
		*strrchr(hidden, '/') = '\0';
		if (mount("hidden", hidden, "tmpfs", flags | MS_RDONLY, "size=4k,nr_inodes=2") != 0)
			return -1;
	}
	return (int) syscall(SYS_capset, &header, none);
}

int
cudal1_guard_enter(bool gpu, uint64_t threads)
{
	/*
	 * docs/security.md names them. The kernel counts threads and waiting signals by user namespace,
	 * so these limits bound this sandbox's alone.
	 */
	if (limit(RLIMIT_SIGPENDING, 128) != 0 || limit(RLIMIT_CORE, 0) != 0
		|| limit(RLIMIT_MEMLOCK, 0) != 0 || limit(RLIMIT_NPROC, threads) != 0
		|| limit(RLIMIT_NOFILE, gpu ? GPU_DESCRIPTORS : DESCRIPTORS) != 0 || limit_stack() != 0)
		return -1;
	return apply_own() == 0 ? apply(&program[0]) : -1;
}

int
cudal1_guard_seal(void)
{
	return apply(&program[1]);
}

void *
cudal1_guard_map(int fd, uint64_t bytes)
{
	void	   *memory = pages_map(fd, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE);

	return memory == MAP_FAILED ? NULL : memory;
}

void
cudal1_guard_fill(void *out, uint64_t n, uint32_t dtype, uint32_t init, double low, double high)
{
	RandomKey	key;

	random_secret_key(&key);
	random_fill(out, dtype, n, (RandomInit) init, low, high, &key);
}

static const uint64_t *kept;
static uint64_t nkept;

void
cudal1_guard_keep(const uint64_t *bounds, uint64_t n)
{
	kept = bounds;
	nkept = n;
}

static bool
is_kept(uint64_t address)
{
	for (uint64_t i = 0; i < 2 * nkept; i += 2)
		if (kept[i] <= address && address < kept[i + 1])
			return true;
	return false;
}

static bool
layout_of(const WireTensor *t, Tensor *layout)
{
	*layout = (Tensor) {.dtype = t->dtype,.ndim = t->ndim};
	memcpy(layout->shape, t->shape, sizeof(layout->shape));
	return tensor_finish(layout) && layout->elements > 0;
}

/* whether an output shares places with an earlier one, of which there are `n` */
static bool
shares(const WireTensor *t, const Tensor *layout, uint64_t n)
{
	for (uint64_t i = 1; i <= n; i++)
	{
		const WireTensor *other = t - i;
		Tensor		earlier;

		if (layout_of(other, &earlier)
			&& !tensor_apart(other->address, &earlier, other->stride, t->address, layout,
							 t->stride))
			return true;
	}
	return false;
}

static WireControl *control;
static uint64_t base;			/* addresses of results count from here, */
static uint64_t bytes;			/* and are below that */

/*
 * Makes the pages of an output by writes that change nothing. Asking for many pages takes a
 * hundredth of touching them, which needs each one's place in caches.
 */
static void
make_pages(const WireTensor *t)
{
	static unsigned char there[MOST_PAGES];
	Tensor		layout;
	uint64_t	span;
	uint64_t	from = t->address / PAGE_BYTES;
	uint64_t	to;
	bool		known;

	if (!layout_of(t, &layout) || layout.bytes < WIRE_LARGE_OUTPUT
		|| !tensor_span(&layout, t->stride, &span))
		return;
	to = (t->address + span * tensor_dtype(t->dtype)->size + PAGE_BYTES - 1) / PAGE_BYTES;
	known = to - from > FEW_PAGES && to - from <= MOST_PAGES
		&& mincore((void *) (from * PAGE_BYTES), (to - from) * PAGE_BYTES, there) == 0;
	if (known && !memchr(there, 0, to - from))
		return;
	for (uint64_t page = from; page < to; page++)
		if (!known || !(there[page - from] & 1))
			__atomic_fetch_add((char *) (page == from ? t->address : page * PAGE_BYTES), 0,
							   __ATOMIC_RELAXED);
}

uint64_t
cudal1_guard_find_shared(const void *table, uint64_t first, uint64_t n, bool make)
{
	const WireTensor *t = table;
	Tensor		layout;

	for (uint64_t i = first; i < n; i++)
		if (layout_of(&t[i], &layout)
			&& (is_kept(t[i].address) || tensor_overlaps(&layout, t[i].stride)
				|| shares(&t[i], &layout, i)))
			return i;
	for (uint64_t i = 0; make && i < n; i++)
		make_pages(&t[i]);
	return n;
}

void
cudal1_guard_place(void *memory, uint64_t from, uint64_t length)
{
	control = memory;
	base = from;
	bytes = length;
}

int
cudal1_guard_list(uint32_t run, uint64_t address)
{
	if (address - base >= bytes)
		return 0;
	control->table[run].address = address - base;
	/* memory of a GPU has all its pages */
	if (base == 0)
		make_pages(&control->table[run]);
	return 1;
}
