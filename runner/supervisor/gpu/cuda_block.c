/*
 * cuda_block.c
 *		The honest block on a GPU.
 *
 * An executor is stopped outside its turn, but the work that it has sent to the GPU goes on. So a
 * block has these phases:
 *
 * 1. The clock starts, and the supervisor copies the inputs to where the executor reads them.
 *    Before that the memory holds something else, and no work on the inputs can have begun.
 * 2. The executor makes its runs.
 * 3. The supervisor reads elements of outputs that it drew by lot, always some of the last runs,
 *    and the clock stops.
 * 4. The executor is stopped, and the elements are read again. They must be the same, and those of
 *    the other side must agree.
 *
 * Blocks without runs measure what copying and reading cost, which is taken off both sides alike.
 */
#include <string.h>

#include "common/clock.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/outcome.h"

/* copies inputs of staged slots, and turns out the caches if the profile says so */
static bool
stage_inputs(Measure *m, const Arena *arena, Side side, CudaPieces *pieces)
{
	Gpu		   *gpu = m->gpu;

	if (gpu->staged > 0 && pieces->n > 0)
	{
		void	   *parameters[] = {&gpu->slots, pieces};

		if (!gpu_launch(m, gpu->stage, pieces->piece[0].bytes / 16, gpu->staged, parameters))
			return false;
	}
	if (gpu->cold_bytes > 0)
	{
		uint64_t	words = gpu->cold_bytes / 16;
		uint32_t	value = (uint32_t) random_next(&m->random);
		void	   *parameters[] = {&gpu->cold, &words, &value};

		if (!gpu_launch(m, gpu->flush, words, 1, parameters))
			return false;
	}
	return gpu_synchronize(m) && gpu_late_begin(m, arena, side);
}

/* lists in gpu->items where the drawn elements lie; `run`: the run of each drawn slot */
static void
list_samples(Measure *m, Executor *executor, const Arena *arena, const uint32_t *run)
{
	Gpu		   *gpu = m->gpu;
	const GpuSamples *drawn = &gpu->drawn;

	gpu->nitems = 0;
	gpu->items_of = executor;
	for (uint32_t i = 0; i < drawn->n; i++)
		for (int o = 0; o < m->outputs; o++)
		{
			if (m->output[o].elements == 0)
				continue;
			for (int e = 0; e < GPU_SAMPLE_ELEMENTS; e++)
			{
				CuAddress	address = gpu_element(m, executor, arena, run[i], drawn->slot[i], o,
												  drawn->element[i][o][e]);

				/* an address that makes no sense is found when tables are judged */
				gpu->items[gpu->nitems++] = (CudaSample) {address ? address : gpu->comparison,
					address ? tensor_dtype_size(m->output[o].dtype) : 1};
			}
		}
}

bool
gpu_block(Measure *m, Executor *executor, Side side, const uint32_t *slots, uint32_t n,
		  uint32_t flags, double timeout, double *elapsed)
{
	Gpu		   *gpu = m->gpu;
	const Arena *arena = gpu->arena;
	GpuSamples *drawn = &gpu->drawn;
	bool		own = drawn->n == 0 && n > 0;
	uint32_t	run[GPU_SAMPLE_SLOTS] = {0};
	CudaPieces	pieces;
	GpuSteps	steps = {.m = m, .executor = executor, .side = side, .arena = arena, .slots = slots,
		.patience = timeout / 2};
	ExecutorResult result;
	double		start;
	double		answered;

	*elapsed = 0;
	if (own)
		gpu_draw(m, slots + (n > 2 ? n - 2 : 0), n > 2 ? 2 : n);
	for (uint32_t i = 0; n > 0 && i < drawn->n; i++)
		while (run[i] < n - 1 && slots[run[i]] != drawn->slot[i])
			run[i]++;
	gpu_pieces(m, arena, side, &pieces);

	start = clock_now();
	if (!stage_inputs(m, arena, side, &pieces))
		return false;
	gpu_trap_begin(m);
	gpu_audit_begin(m);
	gpu_keep_awake(gpu, false);
	if (gpu->trap.on || gpu->audit.on)
		flags |= WIRE_FLAG_ONCE;
	/*
	 * the supervisor opens a gate for each run, where it has a core of its own for that; both sides
	 * pay what that costs
	 */
	if (n > 0 && gpu->audit.on)
		result = executor_ask_steps(executor, n, flags | WIRE_FLAG_GATED, gpu_audit_between, &steps,
									timeout);
	else if (n > 0 && executor->attentive)
		result = executor_ask_steps(executor, n, flags | WIRE_FLAG_STEPPED, gpu_trap_between,
									&steps, timeout);
	else
		result = executor_ask(executor, WIRE_RUN, n, flags, 0, timeout);
	if (result == EXECUTOR_OK && n > 0 && m->outputs > 0)
		list_samples(m, executor, arena, run);
	/* an empty block reads what was read last, if it was this executor's */
	if (gpu->items_of != executor)
		gpu->nitems = 0;
	answered = clock_now();
	if (steps.failed || (result == EXECUTOR_OK && !gpu_read_samples(m, gpu->values)))
	{
		executor_settle(executor, result);
		return false;
	}
	*elapsed = clock_now() - start;
	gpu->read_seconds = *elapsed - (answered - start);
	result = executor_settle(executor, result);
	gpu_keep_awake(gpu, true);
	gpu->core_lap = gpu_core_lap(gpu);

	m->result->clock_seconds += *elapsed;
	if (result == EXECUTOR_OK && n > 0 && gpu->nitems > 0)
	{
		memcpy(drawn->value[side == SIDE_REFERENCE ? 0 : arena->place], gpu->values,
			   gpu->nitems * sizeof(uint64_t));
		if (!gpu_read_samples(m, gpu->values + GPU_MAX_SAMPLES))
			return false;
		gpu->sampled += (int) gpu->nitems;
		if (memcmp(gpu->values, gpu->values + GPU_MAX_SAMPLES, gpu->nitems * sizeof(uint64_t)) != 0)
		{
			measure_failed(m, side, executor, EXECUTOR_FORGED, "in a run");
			measure_detector(m, "early_answer");
			return false;
		}
	}
	if (own)
		drawn->n = 0;
	return measure_failed(m, side, executor, result, "in a run");
}
