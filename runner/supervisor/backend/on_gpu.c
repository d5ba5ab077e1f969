/*
 * on_gpu.c
 *		Runs on a GPU: arenas that executors import, memory for groups.
 */
#include "supervisor/backend/parts.h"
#include "supervisor/gpu/cuda.h"

#define LEAST_TIMES		4		/* times what the reference took, the least of a pool */
#define LEAST_POOL		((size_t) 2 << 30)

void
gpu_build_key(Measure *m, json_t *key)
{
	json_object_set_new(key, "gpu", json_string(m->gpu->nvml.name));
	json_object_set_new(key, "driver", json_string(m->gpu->nvml.driver));
	json_object_set_new(key, "toolkit", json_string(m->gpu->toolkit));
}

bool
gpu_begin_pair(Measure *m, Arena *arena)
{
	double		started = clock_now();
	bool		good;

	gpu_note_state(m);
	gpu_arena_draw(m, arena);
	good = !m->backend->module || gpu_make_pools(m);
	measure_spent(m, SPENT_START, started);
	return good;
}

/* each gets an equal part of what is left for its pool */
int
gpu_room(Measure *m, int n)
{
	size_t		left = (size_t) (GPU_SHARE * (double) gpu_memory_left(m));
	size_t		least = LEAST_TIMES * m->reference.pool_used;

	least = !m->backend->module ? 0 : least > LEAST_POOL ? least : LEAST_POOL;
	while (n > 1 && left < (size_t) n * (least + m->reference.gpu_bytes))
		n--;
	left /= (size_t) n;
	left = left > m->reference.gpu_bytes ? left - m->reference.gpu_bytes : 0;
	m->gpu->set_pool_bytes = left < m->device.array_bytes ? left : m->device.array_bytes;
	return n;
}
