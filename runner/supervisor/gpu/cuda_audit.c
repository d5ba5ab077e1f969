/*
 * cuda_audit.c
 *		Audits on a GPU: what a run takes where nothing can be done for several runs at once.
 *
 * An audit's first run has the GPU turn to the executor. Each run after it finds its input late,
 * see cuda_late.c, and says that it is done when the device is; from gate to answer is what it
 * takes. Nothing of a block's own cost is in that, and little is taken off, for a launch and its
 * wait: a turn of the GPU takes 0.14 ms, in which work of the CPU can hide.
 *
 * The moment that a run says it is done two elements of its outputs, drawn by lot, are copied to
 * the host, by the engine that no kernel waits for. They must be the same when all runs have ended.
 */
#define _GNU_SOURCE
#include <string.h>

#include "common/clock.h"
#include "supervisor/gpu/cuda.h"

#define FARTHEST	((uint64_t) 1 << 30)	/* bytes between two rows of a copy */

bool
gpu_audit_set(Measure *m, Arena *arena, const uint32_t *slots, uint32_t runs, bool late)
{
	GpuAudit   *audit = &m->gpu->audit;
	void	   *memory;

	if (!audit->early)
	{
		if (!gpu_good(m, m->gpu->driver.MemHostAlloc(&memory, sizeof(*audit->early) * GPU_LATE_RUNS,
													 1), "to give page-locked memory"))
			return false;
		audit->early = memory;
	}
	audit->on = gpu_stream(m) && (!late || gpu_late_set(m, arena, slots, 1, 1, runs - 1));
	return audit->on;
}

void
gpu_audit_clear(Measure *m)
{
	m->gpu->audit.on = false;
	gpu_late_clear(m);
}

void
gpu_audit_begin(Measure *m)
{
	m->gpu->audit.looked = 0;
}

/* two elements of an output of a run that says it is done */
static bool
look(GpuSteps *s, uint32_t run)
{
	Measure    *m = s->m;
	Gpu		   *gpu = m->gpu;
	GpuAudit   *audit = &gpu->audit;
	GpuEarly   *early = &audit->early[audit->looked++];
	int			output = (int) random_below(&m->random, (uint64_t) m->outputs);
	const Tensor *layout = &m->output[output];
	CuCopy		copy = {.from_type = 2, .to_type = 1, .to_host = early->value,
		.to_pitch = sizeof(early->value[0]), .height = 2};
	uint64_t	element[2];
	CuAddress	at[2];
	int			first;

	*early = (GpuEarly) {.run = run,.output = output,.bytes = tensor_dtype_size(layout->dtype)};
	if (layout->elements == 0)
		return true;
	for (int i = 0; i < 2; i++)
	{
		element[i] = random_below(&m->random, layout->elements);
		at[i] = gpu_element(m, s->executor, s->arena, run, s->slots[run], output, element[i]);
		if (at[i] == 0)
			return true;
	}
	first = at[1] < at[0];
	early->element[0] = element[first];
	early->element[1] = element[!first];
	copy.from = at[first];
	copy.width = early->bytes;
	copy.from_pitch = at[!first] - at[first];
	if (copy.from_pitch < copy.width || copy.from_pitch > FARTHEST)
	{
		copy.from_pitch = copy.width;
		copy.height = 1;
	}
	early->n = (uint32_t) copy.height;
	return gpu_good(m, gpu->driver.Memcpy2DAsync(&copy, gpu->stream), "to be read")
		&& gpu_good(m, gpu->driver.StreamSynchronize(gpu->stream), "to be read");
}

void
gpu_audit_between(void *context, uint32_t run, uint32_t runs)
{
	GpuSteps   *s = context;
	GpuAudit   *audit = &s->m->gpu->audit;
	uint32_t	i;

	if (s->failed)
		return;
	if (run > 1)
	{
		audit->seconds[run - 2] = clock_now() - audit->opened;
		s->failed = !look(s, run - 1);
	}
	if (!s->failed && gpu_late_is(&s->m->gpu->late, run, &i))
		s->failed = !gpu_late_bring(s->m, s->arena, s->side, i);
	audit->opened = clock_now();
}

/*
 * Whether what was read early is what the outputs are that the executor lists now. One that listed
 * other memory when a run was done, or none, has had nothing to show then.
 */
bool
gpu_audit_same(Measure *m, Executor *executor, const Arena *arena, const uint32_t *slots,
			   bool *same)
{
	Gpu		   *gpu = m->gpu;
	GpuAudit   *audit = &gpu->audit;
	uint32_t	n = 0;

	*same = true;
	for (uint32_t i = 0; i < audit->looked; i++)
	{
		const GpuEarly *early = &audit->early[i];

		if (early->n == 0 && m->output[early->output].elements > 0)
			*same = false;
		for (uint32_t j = 0; j < early->n; j++, n++)
		{
			CuAddress	at = gpu_element(m, executor, arena, early->run, slots[early->run],
										 early->output, early->element[j]);

			*same = *same && at != 0;
			gpu->items[n] = (CudaSample) {at, early->bytes};
		}
	}
	gpu->nitems = *same ? n : 0;
	if (!*same)
		return true;
	if (!gpu_read_samples(m, gpu->values))
		return false;
	n = 0;
	for (uint32_t i = 0; i < audit->looked; i++)
		for (uint32_t j = 0; j < audit->early[i].n; j++, n++)
			*same = *same && memcmp(&gpu->values[n], &audit->early[i].value[j],
									audit->early[i].bytes) == 0;
	return true;
}
