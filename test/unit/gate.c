/*
 * gate.c
 *		The gate of a window, on the executor's side; and which memory a process reads meanwhile.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../../runner/executor/gate.c"
#include "../../runner/process/walk.c"

#include "tap.h"

#define MIB		((size_t) 1 << 20)

static WireControl *shared;
static volatile int answered;	/* runs */
static volatile int begun;
static volatile sig_atomic_t faults;	/* that came to the code's own handler */
static volatile char *touched;	/* in each run, if anything */
static sigjmp_buf in_run;

static void
of_code(int number)
{
	(void) number;
	faults++;
	siglongjmp(in_run, 1);
}

/* an executor's loop */
static void *
execute(void *sleeping)
{
	cudal1_gate_begin(shared, sleeping != NULL);
	for (uint32_t run = 0; cudal1_gate_wait(run); run++)
	{
		begun = (int) run + 1;
		if (touched && sigsetjmp(in_run, 1) == 0)
			(void) *touched;
		answered = (int) run + 1;
	}
	return NULL;
}

static const struct timespec moment = {.tv_nsec = 30000000};

static bool
within_seconds(const uint32_t *word, uint32_t least)
{
	for (int i = 0; i < 500; i++)
	{
		if (__atomic_load_n(word, __ATOMIC_ACQUIRE) >= least)
			return true;
		nanosleep(&moment, NULL);
	}
	return false;
}

static pthread_t
start(bool sleeping)
{
	pthread_t	thread;

	shared->ready = shared->gate = 0;
	answered = begun = 0;
	pthread_create(&thread, NULL, execute, sleeping ? shared : NULL);
	return thread;
}

static void
open_for(uint32_t gate)
{
	__atomic_store_n(&shared->gate, gate, __ATOMIC_RELEASE);
}

static void
check_gate(bool sleeping)
{
	pthread_t	thread = start(sleeping);

	check(within_seconds(&shared->ready, 1), "a process says when it is at its first gate");
	nanosleep(&moment, NULL);
	check(begun == 0, "no run begins before its gate opens");
	open_for(1);
	check(within_seconds(&shared->ready, 2) && answered == 1, "a run begins when it does");
	nanosleep(&moment, NULL);
	check(begun == 1, "but not the next");
	open_for(3);
	check(within_seconds(&shared->ready, 4) && answered == 3, "a gate opens for all runs up to it");
	open_for(WIRE_GATE_END);
	pthread_join(thread, NULL);
	check(answered == 3, "and the last one ends the window");
}

/* memory that a process walks, and that is gone */
static void
check_walk(void)
{
	static char there[4 * LINE_BYTES];
	char	   *gone = mmap(NULL, MIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction own = {.sa_handler = of_code};
	pthread_t	thread;

	munmap(gone, MIB);
	sigaction(SIGSEGV, &own, NULL);
	shared->walk[0] = (WireStretch) {(uintptr_t) there, (uintptr_t) (there + sizeof(there))};
	shared->walk[1] = (WireStretch) {(uintptr_t) gone, (uintptr_t) (gone + MIB)};
	shared->walk[2] = shared->walk[0];
	shared->walks = 3;
	thread = start(false);
	within_seconds(&shared->ready, 1);
	nanosleep(&moment, NULL);
	open_for(2);
	check(within_seconds(&shared->ready, 3) && faults == 0,
		  "memory that is gone is no fault of the code's");
	check(shared->walk[1].to == 0 && shared->walk[0].to != 0 && shared->walk[2].to != 0,
		  "and is not walked any more");
	touched = gone;
	open_for(4);
	check(within_seconds(&shared->ready, 5) && faults == 2,
		  "faults of its runs come to the code's own handler");
	touched = NULL;
	open_for(WIRE_GATE_END);
	pthread_join(thread, NULL);
	signal(SIGSEGV, SIG_DFL);
	shared->walks = 0;
}

static void
check_long(void)
{
	struct timespec before;
	struct timespec after;
	clockid_t	clock;
	pthread_t	thread = start(true);

	within_seconds(&shared->ready, 1);
	pthread_getcpuclockid(thread, &clock);
	clock_gettime(clock, &before);
	for (int i = 0; i < 10; i++)
		nanosleep(&moment, NULL);
	clock_gettime(clock, &after);
	check((double) (after.tv_sec - before.tv_sec) + 1e-9 * (double) (after.tv_nsec - before.tv_nsec)
		  < 0.05, "where runs are long a process sleeps at its gate");
	open_for(WIRE_GATE_END);
	pthread_join(thread, NULL);
}

/* bytes of [from, from + bytes) that are listed */
static size_t
listed(const char *from, size_t bytes)
{
	uint64_t	first = (uintptr_t) from;
	uint64_t	last = first + bytes;
	size_t		sum = 0;

	for (uint32_t i = 0; i < shared->walks; i++)
	{
		uint64_t	a = shared->walk[i].from > first ? shared->walk[i].from : first;
		uint64_t	b = shared->walk[i].to < last ? shared->walk[i].to : last;

		sum += b > a ? b - a : 0;
	}
	return sum;
}

static char *
map(size_t bytes)
{
	char	   *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
							  0);

	madvise(memory, bytes, MADV_NOHUGEPAGE);
	return memory;
}

/* a stopped process that has written `own` and more */
static pid_t
stop_child(char *own, size_t bytes, char *large, size_t large_bytes)
{
	pid_t		pid = fork();
	int			status;

	if (pid == 0)
	{
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		memset(own, 1, bytes);
		memset(large, 1, large_bytes);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(pid, &status, WUNTRACED);
	return pid;
}

static uint64_t
all_listed(void)
{
	uint64_t	sum = 0;

	for (uint32_t i = 0; i < shared->walks; i++)
		sum += shared->walk[i].to - shared->walk[i].from;
	return sum;
}

static void
check_list(void)
{
	char	   *own = map(2 * MIB);
	char	   *parents = map(MIB);
	char	   *none = map(MIB);
	char	   *large = map(WALK_BYTES + 4 * MIB);
	Executor	executor = {.control = shared};

	memset(parents, 1, MIB);
	executor.pid = stop_child(own, MIB, large, 0);
	executor_list_walk(&executor);
	kill(executor.pid, SIGKILL);
	waitpid(executor.pid, NULL, 0);
	check(listed(own, MIB) == MIB && listed(own + MIB, MIB) == 0,
		  "a process walks the memory that it has written, and no other");
	check(listed(parents, MIB) == 0 && listed(none, MIB) == 0,
		  "what it shares with its parent, or nobody has, is left out");
	check(all_listed() < WALK_BYTES, "so that it all can be walked");
	executor.pid = stop_child(own, MIB, large, WALK_BYTES + 4 * MIB);
	executor_list_walk(&executor);
	kill(executor.pid, SIGKILL);
	waitpid(executor.pid, NULL, 0);
	check(all_listed() == WALK_BYTES && listed(large, WALK_BYTES + 4 * MIB) == WALK_BYTES,
		  "of more than is walked, the largest stretches are");
}

int
main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
				  0);
	if (shared == MAP_FAILED)
		return 1;
	check_gate(false);
	check_gate(true);
	check_walk();
	check_long();
	check_list();
	return done();
}
