/*
 * measure.c
 *		One measurement, from the build to the verdict.
 *
 * The phases: build both sides without holding the device; take the device; run the reference
 * against itself in two processes, and the candidate on the same inputs, compared (checks/); time
 * fresh pairs (time/score.c). The supervisor alone knows the seeds, the expected outputs and the
 * time.
 */
#include "supervisor/build/build.h"
#include "supervisor/checks/checks.h"
#include "supervisor/device/device.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/time/time.h"

#define BUILD_APART_CORES	4

static bool
build(Measure *m)
{
	measure_progress(m, "building", true);
	m->live.filter_fd = sandbox_guard_filters(m->backend->module, m->backend->apart);
	if (m->live.filter_fd < 0)
		return conclude(m, OUTCOME_LOST, "the system call filters could not be made");
	device_versions(m);
	if (m->backend->module)
		return build_zygotes(m);
	layout_from_signature(m);
	return build_native(m);
}

/*
 * On a host with few cores a compiler beside a measurement takes memory bandwidth from it: on 2
 * cores the buckets of a transpose spread three times as widely. There the device is taken before
 * the build, elsewhere after it.
 */
static bool
builds_disturb(const Measure *m)
{
	return !m->backend->apart && sysconf(_SC_NPROCESSORS_ONLN) < BUILD_APART_CORES;
}

/* the driver's start makes no context, so others may have the GPU meanwhile */
static bool
take(Measure *m)
{
	measure_progress(m, "waiting", true);
	return (!m->backend->start_driver || m->backend->start_driver(m)) && device_take(m);
}

void
measure_run(Measure *m)
{
	RandomKey	key;
	double		started;

	m->live.filter_fd = -1;
	for (int i = 0; i < ZYGOTES; i++)
		executor_init(&m->live.zygote[i]);
	random_secret_key(&key);
	random_seed(&m->random, &key);
	m->live.weights = random_next(&m->random);
	m->noise = measure_zeroed(NOISE_BYTES, 1);
	random_key(&m->random, &key);
	random_fill(m->noise, WIRE_UINT8, NOISE_BYTES, RANDOM_INTEGER, 0, 255, &key);
	/* The signal came during an earlier measurement of the same job. */
	if (executor_cancelled)
		conclude(m, OUTCOME_CANCELLED, NULL);
	else if (m->job->counters)
	{
		if (device_prepare(m) && take(m))
			profiler_count(m);
	}
	else if (device_prepare(m) && (!builds_disturb(m) || take(m)))
	{
		started = clock_now();
		build(m);
		heat_enter_all(m);
		m->all.result.build_seconds = clock_now() - started;
		if (m->device.locked_at > 0)
			m->all.result.spent[SPENT_BUILD] = m->all.result.build_seconds;
		if (heat_left(m) > 0 && (builds_disturb(m) || take(m))
			&& (!m->backend->open || m->backend->open(m)) && build_on_device(m))
		{
			device_environment(m);
			measure_progress(m, "checking", true);
			if ((!m->backend->module || layout_from_generator(m)) && checks_run(m))
				time_members(m);
			diagnose(m);
		}
	}
	if (m->live.generating)
		measure_end(m, &m->live.generator);
	for (int i = 0; i < ZYGOTES; i++)
		executor_end(&m->live.zygote[i]);
	signal_forget(m);
	gpu_close(m);
	build_end(m);
	heat_conclude(m);
	device_release(m);
	free(m->noise);
}
