/*
 * awake.c
 *		The thread that keeps a core awake: it times arithmetic, and stops when it is told.
 */
#define _GNU_SOURCE
#include "../../runner/supervisor/gpu/cuda_awake.c"

#include "tap.h"

#define LEAST_LAP	100e-9		/* of any processor, for so many steps; a clock takes 20 ns */

static const struct timespec moment = {.tv_nsec = 1000000};

/* whether laps are known within a second */
static bool
tells(const Gpu *gpu)
{
	for (int i = 0; i < 1000 && isnan(gpu_core_lap(gpu)); i++)
		nanosleep(&moment, NULL);
	return gpu_core_lap(gpu) > LEAST_LAP;
}

int
main(void)
{
	static Gpu	gpu;
	Measure		m = {.gpu = &gpu};

	sched_getaffinity(0, sizeof(m.cores), &m.cores);
	gpu_keep_awake(&gpu, true);
	check(gpu.awake == SPIN_OFF && isnan(gpu_core_lap(&gpu)), "without a thread nothing is told");
	gpu_start_spinning(&m);
	nanosleep(&moment, NULL);
	check(gpu.spinning && isnan(gpu_core_lap(&gpu)), "nor by one that sleeps");
	gpu_keep_awake(&gpu, true);
	check(tells(&gpu), "a lap is arithmetic that no compiler has left out");
	gpu_keep_awake(&gpu, false);
	check(gpu.awake == SPIN_OFF, "it stops before an executor's turn");
	gpu_keep_awake(&gpu, true);
	gpu_stop_spinning(&gpu);
	check(!gpu.spinning && gpu.awake == SPIN_END, "and ends");
	return done();
}
