/*
 * backend.c
 *		Which backend serves a task's language on a device.
 */
#include "supervisor/backend/parts.h"

static const struct
{
	const Backend *cpu;
	const Backend *gpu;
}			backends[LANGUAGES] = {
	[LANGUAGE_C] = {&backend_c, NULL},
	[LANGUAGE_CUDA] = {NULL, &backend_cuda},
	[LANGUAGE_PYTORCH] = {&backend_torch_cpu, &backend_torch_gpu},
};

bool
backend_choose(Measure *m, bool gpu, const char *device)
{
	m->backend = gpu ? backends[m->job->language].gpu : backends[m->job->language].cpu;
	return m->backend
		|| conclude(m, OUTCOME_LOST, "tasks in %s are measured on %s, not on %s",
					language_names[m->job->language], gpu ? "CPU devices" : "GPUs", device);
}

const char *
backend_device(const Job *job)
{
	return backends[job->language].cpu ? NULL : "cuda";
}
