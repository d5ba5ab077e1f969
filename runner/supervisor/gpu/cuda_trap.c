/*
 * cuda_trap.c
 *		Traps: blocks that show whether a run's work is done in that run, and what a run costs.
 *
 * In every block runs start one by one, when the supervisor opens a gate. In a trap, drawn by lot,
 * every other run of a stretch finds its true input only when the run before it has answered (see
 * cuda_late.c). Each defence of code has its answer:
 *
 * - An output that was made of the false input is wrong.
 * - Code could let all runs answer, and work when every input is true. So the executor is stopped
 *   when one of these runs has answered, and the work that it has launched by then must be enough.
 * - A resident kernel could watch inputs come and answer each. So the GPU must come to rest before
 *   some of these inputs come, and again while the executor is stopped. Code whose kernels leave by
 *   themselves then has to launch again in its run, which its steps show.
 * - A queue could wait for the input without a kernel. So, where the supervisor knows where the
 *   output will lie, the next input comes while the executor is still stopped, and must change
 *   nothing.
 * - Code can recognise a trap by its waits, and take care in it. But then the steps between gates
 *   show what a run costs it, which bounds its score (verdict.c).
 * - Code could answer first and work while the supervisor brings the next input. So the runs
 *   between have their inputs from the start, and follow at once.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "supervisor/gpu/cuda.h"

#define AGAIN_US		200
#define LOOK_US			20
#define LOOK_SECONDS	2e-3	/* for what a single run has launched, besides its runs' time */
#define LOOK_RUNS		4.0		/* times the slower side's run */
#define ALONE_SECONDS	4e-4	/* for a queue that waits for the next input */
#define IDLE_TRIES		4		/* the first finds the GPU turned to the executor */
#define IDLE_SECONDS	50e-6

bool
gpu_trap_set(Measure *m, Arena *arena, const uint32_t *slots, uint32_t runs)
{
	GpuTrap    *trap = &m->gpu->trap;
	uint32_t	n = gpu_late_most(arena, runs / 2);
	uint32_t	first = 1 + (uint32_t) random_below(&m->random, runs - 2 * n + 1);

	trap->on = gpu_late_set(m, arena, slots, first, 2, n);
	trap->run = first + 2 * (uint32_t) random_below(&m->random, n);
	/* what has been sent before the run that is looked at must not be waited for then */
	trap->rested = (uint32_t) random_next(&m->random) | 1u << (trap->run - first) / 2;
	/* the late run after the one that is looked at */
	trap->next = trap->run + 2 < first + 2 * n ? trap->run + 2 : 0;
	return trap->on;
}

void
gpu_trap_clear(Measure *m)
{
	m->gpu->trap.on = false;
	gpu_late_clear(m);
}

void
gpu_trap_begin(Measure *m)
{
	GpuTrap    *trap = &m->gpu->trap;

	trap->late = LATE_NOT;
	trap->readable = false;
	trap->wrong = 0;
	trap->turn = 0;
	memset(trap->steps, 0, sizeof(trap->steps));
}

/* whether the first output of a run is right by now, on the GPU, without the executor's help */
static bool
is_there(GpuSteps *s, uint32_t run, const void *expected)
{
	Measure    *m = s->m;
	Gpu		   *gpu = m->gpu;
	GpuTrap    *trap = &gpu->trap;
	Comparison	found;
	uint32_t	i;

	gpu_late_is(&gpu->late, run, &i);
	trap->readable = gpu_read_first(m, s->executor, s->arena, run, gpu->late.slot[i], trap->found);
	if (!trap->readable || !gpu_compare(m, expected, trap->found, 0, &m->tolerance[0],
											   &found))
	{
		s->failed = m->result->outcome != OUTCOME_NONE;
		return false;
	}
	trap->wrong = found.mismatches;
	return found.equal;
}

/*
 * Whether the GPU works for no other process: then a command follows another at once, and not only
 * when a kernel of another process has been put aside again.
 */
bool
gpu_is_idle(Measure *m, bool *failed)
{
	Gpu		   *gpu = m->gpu;
	double		least = INFINITY;

	for (int i = 0; i < IDLE_TRIES; i++)
	{
		double		start = clock_now();

		*failed = !gpu_good(m, gpu->driver.MemsetD8(gpu->comparison, 0, sizeof(CudaComparison)),
							"to be looked at")
			|| !gpu_good(m, gpu->driver.CtxSynchronize(), "to be looked at");
		if (*failed)
			return false;
		least = fmin(least, clock_now() - start);
	}
	gpu->trap.turn = least;
	return least < IDLE_SECONDS;
}

/* what was sent before may take its time; a kernel that stays is a late output, too */
static void
await_idle(GpuSteps *s)
{
	double		deadline = clock_now() + s->patience;

	while (!gpu_is_idle(s->m, &s->failed) && !s->failed)
	{
		if (clock_now() > deadline)
		{
			s->m->gpu->trap.late = LATE_KERNEL;
			return;
		}
		usleep(AGAIN_US);
	}
}

/*
 * the next input comes while the executor is stopped: an output that becomes right by that is made
 * by what waits for it
 */
static bool
works_alone(GpuSteps *s)
{
	GpuTrap    *trap = &s->m->gpu->trap;
	double		deadline = clock_now() + ALONE_SECONDS;
	uint32_t	i;
	bool		last;

	if (trap->next == 0 || !trap->expected_next || s->m->job->language == LANGUAGE_PYTORCH)
		return false;
	gpu_late_is(&s->m->gpu->late, trap->next, &i);
	s->failed = !gpu_late_bring(s->m, s->arena, s->side, i);
	do
	{
		last = clock_now() > deadline;
		if (!s->failed && is_there(s, trap->next, trap->expected_next))
			return true;
	} while (!last && !s->failed);
	return false;
}

static void
look(GpuSteps *s)
{
	Measure    *m = s->m;
	GpuTrap    *trap = &m->gpu->trap;
	double		deadline;

	if (executor_freeze(s->executor) != EXECUTOR_OK)
		return;
	deadline = clock_now() + LOOK_SECONDS + LOOK_RUNS * fmax(m->time[0], m->time[1]);
	for (;;)
	{
		/*
		 * the last look begins after the deadline: the supervisor's own core may have been taken
		 * from it
		 */
		bool		last = clock_now() > deadline;
		bool		there = is_there(s, trap->run, trap->expected);

		if (s->failed || (there && gpu_is_idle(m, &s->failed)))
			break;
		if (last)
		{
			trap->late = there ? LATE_KERNEL : LATE_OUTPUT;
			break;
		}
		usleep(LOOK_US);
	}
	if (trap->late == LATE_NOT && !s->failed && works_alone(s))
		trap->late = LATE_ALONE;
	executor_thaw(s->executor);
}

/* what a run took; one that follows a look at the run before it took longer */
static void
note_step(Gpu *gpu, uint32_t run, double seconds)
{
	GpuTrap    *trap = &gpu->trap;
	uint32_t	i;
	int			kind = !gpu_late_is(&gpu->late, run, &i) ? STEP_NEXT : trap->rested >> i & 1
		? STEP_RESTED : STEP_LATE;

	if (kind == STEP_NEXT && (run == 0 || !gpu_late_is(&gpu->late, run - 1, &i)
							  || (trap->expected && run == trap->run + 1)))
		return;
	trap->seconds[kind][trap->steps[kind]++] = seconds;
}

void
gpu_trap_between(void *context, uint32_t run, uint32_t runs)
{
	GpuSteps   *s = context;
	Gpu		   *gpu = s->m->gpu;
	GpuTrap    *trap = &gpu->trap;
	double		now;
	uint32_t	i;

	if (!trap->on || s->failed)
		return;
	now = clock_now();
	if (run > 0)
		note_step(gpu, run - 1, now - trap->opened);
	if (run == trap->run + 1 && trap->expected)
		look(s);
	if (gpu_late_is(&gpu->late, run, &i) && !s->failed)
	{
		if (trap->rested >> i & 1)
			await_idle(s);
		s->failed = s->failed || !gpu_late_bring(s->m, s->arena, s->side, i);
	}
	trap->opened = clock_now();
}
