/*
 * gate.c
 *		The gate of a window, on the executor's side.
 *
 * A process at its gate has nothing to do, so code in place of this loop could use the time to
 * bring its own memory into caches. Executors of both sides do that themselves: they read the
 * memory that the supervisor lists, a few lines a poll. The list was made while the process was
 * stopped, and code may have unmapped some of it since. A fault while reading drops that entry.
 * Other faults go to what the code, or the system, does about them.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/wire.h"
#include "executor/gate.h"

#define LINE_BYTES		64
#define LINES_A_POLL	8
#define SLEEP_NS		20000000	/* a wake-up that was missed costs no more than this */
/* bytes that are read before a process sleeps, because polls end then */
#define READ_BEFORE_SLEEP	((uint64_t) 4 << 20)

static WireControl *control;
static bool sleeps;
static uint32_t walking;		/* the entry of control->walk that is read next */
static uint64_t at;				/* address of the entry's next byte */

static const int fault_signals[] = {SIGSEGV, SIGBUS};
static struct sigaction actions[2]; /* of the code, or the system's */
static volatile sig_atomic_t waits;
static sigjmp_buf after_fault;

static void
fault(int number)
{
	if (waits)
		siglongjmp(after_fault, 1);
	/* the instruction is tried again, and faults again */
	sigaction(number, &actions[number == fault_signals[1]], NULL);
}

/* Takes faults. They stay taken while a run is timed, so that it costs the run nothing. */
static void
take_faults(void)
{
	struct sigaction own = {.sa_handler = fault,.sa_flags = SA_NODEFER};
	struct sigaction before;

	for (int i = 0; i < 2; i++)
	{
		sigaction(fault_signals[i], &own, &before);
		if (before.sa_handler != fault)
			actions[i] = before;
	}
}

/* Reads a few lines, and goes on with the next entry where one ends. */
static void
walk(int lines)
{
	const WireStretch *stretch = &control->walk[walking];

	if (at < stretch->from || at >= stretch->to)
		at = stretch->from;
	for (int i = 0; i < lines && at < stretch->to; i++, at += LINE_BYTES)
		(void) *(const volatile char *) (uintptr_t) at;
	if (at >= stretch->to)
	{
		walking = walking + 1 < control->walks && walking + 1 < WIRE_MAX_WALKS ? walking + 1 : 0;
		at = control->walk[walking].from;
	}
}

void
cudal1_gate_begin(void *memory, int long_runs)
{
	struct timespec none;

	control = memory;
	sleeps = long_runs != 0;
	walking = 0;
	at = control->walk[0].from;
	/* the first call of a process finds the clock's code cold */
	clock_gettime(CLOCK_MONOTONIC, &none);
	__atomic_store_n(&control->ready, 1, __ATOMIC_RELEASE);
}

static void
wait_for(uint32_t run)
{
	struct timespec most = {.tv_nsec = SLEEP_NS};
	uint64_t	left = READ_BEFORE_SLEEP;
	uint32_t	gate;

	while ((gate = __atomic_load_n(&control->gate, __ATOMIC_ACQUIRE)) <= run)
	{
		if (control->walks > 0 && left > 0)
		{
			walk(LINES_A_POLL);
			left -= sleeps ? LINES_A_POLL * LINE_BYTES : 0;
		}
		else if (sleeps)
			syscall(SYS_futex, &control->gate, FUTEX_WAIT, gate, &most, NULL, 0);
		else
			clock_pause();
	}
}

int
cudal1_gate_wait(uint32_t run)
{
	/* the run before ends with this */
	__atomic_store_n(&control->ready, run + 1, __ATOMIC_RELEASE);
	if (control->walks > 0)
	{
		take_faults();
		if (sigsetjmp(after_fault, 0) != 0)
			control->walk[walking] = (WireStretch) {0, 0};
	}
	waits = 1;
	wait_for(run);
	waits = 0;
	return __atomic_load_n(&control->gate, __ATOMIC_ACQUIRE) != WIRE_GATE_END;
}
