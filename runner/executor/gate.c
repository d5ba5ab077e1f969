/*
 * gate.c
 *		The gate of a window, on the executor's side.
 *
 * A process at its gate could use the time to bring its own memory into caches. Executors of
 * compiled code do that themselves, on both sides: a few lines a poll, again and again.
 */
#include <stddef.h>

#include "common/clock.h"
#include "common/wire.h"
#include "executor/guard.h"

#define STRETCHES		16
#define WALK_BYTES		((size_t) 64 << 20)
#define LINE_BYTES		64
#define LINES_A_POLL	8

static WireControl *control;
static struct
{
	const char *from;
	const char *to;
}			stretch[STRETCHES];	/* memory that is walked */
static int	stretches;
static int	walking;			/* the stretch that is read next */
static const char *at;			/* in it */

void
cudal1_gate_walk(const void *from, const void *to)
{
	size_t		left = WALK_BYTES;
	size_t		bytes = (size_t) ((const char *) to - (const char *) from);
	int			n = 0;

	for (; n < stretches && stretch[n].from != from; n++)
		left -= (size_t) (stretch[n].to - stretch[n].from);
	if (n == STRETCHES)
		return;
	stretch[n].from = from;
	stretch[n].to = (const char *) from + (bytes < left ? bytes : left);
	stretches = n < stretches ? stretches : n + 1;
}

static void
walk(int lines)
{
	for (int i = 0; i < lines && at < stretch[walking].to; i++, at += LINE_BYTES)
		(void) *(const volatile char *) at;
	if (at >= stretch[walking].to)
	{
		walking = (walking + 1) % stretches;
		at = stretch[walking].from;
	}
}

void
cudal1_gate_begin(void *memory)
{
	control = memory;
	walking = 0;
	at = stretch[0].from;
	__atomic_store_n(&control->ready, 1, __ATOMIC_RELEASE);
}

uint32_t
cudal1_gate_wait(uint32_t gate)
{
	uint32_t	next;

	/* This ends the run before, whose stores past the caches come first, fence or none. */
	__builtin_ia32_sfence();
	__atomic_store_n(&control->ready, gate + 1, __ATOMIC_RELEASE);
	while ((next = __atomic_load_n(&control->gate, __ATOMIC_ACQUIRE)) <= gate)
		if (stretches > 0)
			walk(LINES_A_POLL);
		else
			clock_pause();
	return next <= WIRE_MAX_RUNS ? next : 0;
}
