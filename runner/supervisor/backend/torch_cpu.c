/*
 * torch_cpu.c
 *		PyTorch on a CPU: inputs in shared memory, outputs wherever the process has them.
 */
#include "supervisor/backend/parts.h"
#include "supervisor/build/build.h"

static ExecutorResult
torch_cpu_start(Measure *m, Executor *executor, Side side, int seat, const Arena *arena)
{
	return torch_fork(m, executor, seat, (int[]) {arena->inputs_fd, m->code[side]->source_fd}, 2);
}

static bool
torch_cpu_stage(Measure *m, const Arena *arena, Side side, uint32_t slot)
{
	memcpy(arena->inputs + slot * arena->input_slot_bytes,
			   arena->master + slot * arena->input_slot_bytes, arena->input_slot_bytes);
	return true;
}

/*
 * The table's entry of an output, copied once a run. The executor can write there, so that else
 * noise would come to another place than was looked at.
 */
static WireTensor
listed(const Measure *m, Executor *executor, uint32_t run, int output)
{
	uint32_t	n = (uint32_t) m->outputs;

	if (executor->listed_run != run + 1)
		memcpy(executor->listed, &executor->control->table[run * n], n * sizeof(WireTensor));
	executor->listed_run = run + 1;
	return executor->listed[output];
}

static uint64_t
torch_cpu_element(Measure *m, Executor *executor, const Arena *arena, uint32_t run, int output,
				  uint64_t element)
{
	WireTensor	t = listed(m, executor, run, output);

	return t.address + tensor_place(&m->output[output], t.stride, element)
		* tensor_dtype_size(m->output[output].dtype);
}

static bool
torch_cpu_peek(Measure *m, Executor *executor, const uint64_t *address, int n, size_t size,
			   uint64_t *value)
{
	/* Memory that can't be read holds no result. */
	memset(value, 0, (size_t) n * sizeof(*value));
	executor_read_places(executor, address, n, size, value);
	return true;
}

static bool
torch_cpu_overwrite(Measure *m, Executor *executor, uint32_t run, int output,
					WireStretch *stretch)
{
	Side		side = executor_side(executor);
	size_t		at = (size_t) random_below(&m->random, NOISE_BYTES / 2);
	WireTensor	t = listed(m, executor, run, output);

	if (executor_write_tensor(executor, &t, &m->output[output], &m->random,
							  (char *) m->noise + at, NOISE_BYTES - at, stretch) == EXECUTOR_OK
		|| errno == ESRCH)
		return true;
	measure_cause(m, side, "memory");
	return conclude(m, outcome_of(side, OUTCOME_WRONG_OUTPUT), "%s: a result lies in memory that "
					"can't be written; a caller may write to what it is given",
					name_of_side(side));
}

static bool
torch_cpu_inputs_same(Measure *m, const Arena *arena, Side side, uint32_t slot, bool *same)
{
	*same = memcmp(arena->inputs + slot * arena->input_slot_bytes,
				   arena->master + slot * arena->input_slot_bytes, arena->input_slot_bytes) == 0;
	return true;
}

static bool
torch_cpu_read(Measure *m, Executor *executor, const Arena *arena, uint32_t slot, int output,
			   const WireTensor *listed, void *out)
{
	ExecutorResult result = executor_read_tensor(executor, listed, &m->output[output], out);

	return measure_failed(m, executor_side(executor), executor, result, "as an output was read");
}

/*
 * jemalloc, where it is installed. glibc's allocator places arrays according to what was allocated
 * before them: two identical modules differed by up to 8 % for as long as their processes' parents
 * lived, since one found its temporary array's memory again in each run and the other didn't.
 */
#define FIND_ALLOCATOR \
	"ls /usr/lib/*/libjemalloc.so.2 /usr/lib64/libjemalloc.so.2 /usr/lib/libjemalloc.so.2 " \
	"2>/dev/null | head -n 1"

static void
torch_cpu_interpreter(Measure *m, Interpreter *i, Sandbox *sandbox, InterpreterUse use)
{
	if (text_first_line(FIND_ALLOCATOR, i->preload, sizeof(i->preload)))
	{
		sandbox_set(sandbox, "LD_PRELOAD", i->preload);
		sandbox_set(sandbox, "MALLOC_CONF",
						"narenas:1,dirty_decay_ms:-1,muzzy_decay_ms:-1,retain:false,"
						"background_thread:false");
	}
	json_object_set_new(m->environment, "allocator",
						json_string(i->preload[0] ? i->preload : "libc"));
}

const Backend backend_torch_cpu = {
	HOST_CALLS,
	.module = true,
	.builds.interpreter = torch_cpu_interpreter,
	.generate = torch_generate,
	.start = torch_cpu_start,
	.stage = torch_cpu_stage,
	.bring = torch_cpu_stage,
	.element = torch_cpu_element,
	.peek = torch_cpu_peek,
	.overwrite = torch_cpu_overwrite,
	.read = torch_cpu_read,
	.inputs_same = torch_cpu_inputs_same,
};
