/*
 * gate.c
 *		The gate of a window, on the executor's side.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

#include "../../runner/executor/gate.c"

#include "tap.h"

#define PAGE	4096

static WireControl *shared;
static volatile int answered;	/* runs */
static volatile int begun;

static int
pages_read(char *from, int pages)
{
	unsigned char there[16];
	int			read = 0;

	mincore(from, (size_t) pages * PAGE, there);
	for (int i = 0; i < pages; i++)
		read += there[i] & 1;
	return read;
}

/* an executor's loop */
static void *
execute(void *unused)
{
	cudal1_gate_begin(shared);
	for (uint32_t run = 0; cudal1_gate_wait(run); run++)
	{
		begun = (int) run + 1;
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
start(void)
{
	pthread_t	thread;

	shared->ready = shared->gate = 0;
	answered = begun = 0;
	pthread_create(&thread, NULL, execute, NULL);
	return thread;
}

static void
open_for(uint32_t gate)
{
	__atomic_store_n(&shared->gate, gate, __ATOMIC_RELEASE);
}

static void
check_gate(void)
{
	pthread_t	thread = start();

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

/* memory of several pages, of which the kernel tells which were read */
static void
check_walk(void)
{
	const size_t bytes = 16 * PAGE;
	char	   *own = mmap(NULL, 3 * bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t	thread;

	madvise(own, 3 * bytes, MADV_NOHUGEPAGE);
	cudal1_gate_walk(own, own + bytes);
	cudal1_gate_walk(own + 2 * bytes, own + 2 * bytes + PAGE);
	thread = start();
	within_seconds(&shared->ready, 1);
	nanosleep(&moment, NULL);
	check(pages_read(own, 16) == 16 && pages_read(own + 2 * bytes, 16) == 1,
		  "a process at its gate reads the memory that is listed");
	check(pages_read(own + bytes, 16) == 0, "and no other");
	open_for(WIRE_GATE_END);
	pthread_join(thread, NULL);
	cudal1_gate_walk(own + 2 * bytes, own + 3 * bytes);
	thread = start();
	within_seconds(&shared->ready, 1);
	nanosleep(&moment, NULL);
	check(pages_read(own + 2 * bytes, 16) == 16, "a stretch that has grown is read to its end");
	open_for(WIRE_GATE_END);
	pthread_join(thread, NULL);
	cudal1_gate_walk(own, own + 2 * WALK_BYTES);
	check(stretch[0].to == own + WALK_BYTES, "of a long one no more than a limit");
	stretches = 0;
}

int
main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
				  0);
	if (shared == MAP_FAILED)
		return 1;
	check_gate();
	check_walk();
	return done();
}
