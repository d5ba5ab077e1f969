/*
 * backend.c
 *		Which backend serves a task's language on a device.
 */
#include "supervisor/backend.h"

extern const Backend backend_c,
			backend_torch_cpu,
			backend_cuda,
			backend_torch_gpu;

#define BACKENDS_OF(name, ending, module, cpu, gpu) {cpu, gpu},
static const Backend *const backends[LANGUAGES][2] = {ROWS_OF_LANGUAGES(BACKENDS_OF)};

const Backend *
backend_of(int language, bool gpu)
{
	return backends[language][gpu];
}
