/*
 * awake.c
 *		The thread that keeps a core awake spins between turns, and stops when it is told.
 */
#define _GNU_SOURCE
#include "../../runner/supervisor/gpu/cuda_awake.c"

#include "tap.h"

/* CPU seconds that the thread uses in a fiftieth of a second */
static double
used(const Gpu *gpu)
{
	const struct timespec moment = {.tv_nsec = 20000000};
	struct timespec before;
	struct timespec after;
	clockid_t	clock;

	if (pthread_getcpuclockid(gpu->spinner, &clock) != 0)
		return NAN;
	clock_gettime(clock, &before);
	nanosleep(&moment, NULL);
	clock_gettime(clock, &after);
	return (double) (after.tv_sec - before.tv_sec) + 1e-9 * (double) (after.tv_nsec
																	  - before.tv_nsec);
}

/* whether it is at work within a second or two; a busy core may keep the lowest priority waiting */
static bool
works(const Gpu *gpu)
{
	for (int i = 0; i < 100; i++)
		if (used(gpu) > 1e-3)
			return true;
	return false;
}

int
main(void)
{
	static Gpu	gpu;
	Measure		m = {.gpu = &gpu};

	sched_getaffinity(0, sizeof(m.cores), &m.cores);
	gpu_keep_awake(&gpu, true);
	check(gpu.awake == SPIN_OFF, "without a thread nothing is kept awake");
	gpu_start_spinning(&m);
	check(gpu.spinning && used(&gpu) < 5e-3, "a thread sleeps at first");
	gpu_keep_awake(&gpu, true);
	check(works(&gpu), "it spins when it is told");
	gpu_keep_awake(&gpu, false);
	used(&gpu);
	check(gpu.awake == SPIN_OFF && used(&gpu) < 1e-3, "it stops before an executor's turn");
	gpu_keep_awake(&gpu, true);
	gpu_stop_spinning(&gpu);
	check(!gpu.spinning && gpu.awake == SPIN_END, "and ends");
	return done();
}
