/*
 * on_host.c
 *		Runs on a CPU. C: compiled code in a process of exec-c, its arrays in shared memory.
 *		PyTorch: inputs in shared memory, outputs wherever the process has them.
 */
#include "supervisor/build/build.h"

static bool
host_make_arena(Measure *m, Arena *arena, uint32_t slots)
{
	if (!arena_create(arena, slots, m->inputs.slot_bytes, m->output_slot_bytes, m->backend->module))
		return conclude(m, OUTCOME_LOST, "no memory for %u slots of %zu bytes: %s", slots,
						m->inputs.slot_bytes + m->output_slot_bytes, strerror(errno));
	return !m->backend->module || torch_hand_arena(m, arena);
}

static void
write_noise(Measure *m, char *out, size_t bytes)
{
	size_t		at = (size_t) random_below(&m->random, NOISE_BYTES / 2);

	while (bytes > 0)
	{
		size_t		n = bytes < NOISE_BYTES - at ? bytes : NOISE_BYTES - at;

		memcpy(out, m->noise + at, n);
		out += n;
		bytes -= n;
		at = 0;
	}
}

/* Noise to all that executors can read, gaps included. Slots of modules have no outputs. */
static void
host_unstage(Measure *m, const Arena *arena, uint32_t slot)
{
	write_noise(m, arena->inputs + slot * arena->input_slot_bytes, arena->input_slot_bytes);
	write_noise(m, arena->outputs + slot * arena->output_slot_bytes, arena->output_slot_bytes);
}

static bool
host_prepare(Measure *m, const Arena *arena, Side side, uint32_t n)
{
	for (uint32_t slot = 0; slot < n; slot++)
		host_unstage(m, arena, slot);
	return true;
}

static void *
host_alloc(Measure *m, size_t bytes)
{
	return malloc(bytes + 1);
}

static void
host_free(Measure *m, void *memory)
{
	free(memory);
}

static bool
host_compare(Measure *m, const void *expected, const void *found, int output,
			 const Tolerance *tolerance, Comparison *result)
{
	const Tensor *t = &m->output[output];

	tensor_compare(expected, found, t->dtype, t->elements, tolerance, result);
	return true;
}

static void *
host_input(Measure *m, const Arena *arena, uint32_t slot, int input)
{
	return arena->master + slot * arena->input_slot_bytes + m->inputs.tensor[input].offset;
}

static bool
host_copy(Measure *m, const Arena *arena, uint32_t from, uint32_t to)
{
	size_t		bytes = arena->input_slot_bytes;

	memcpy(arena->master + to * bytes, arena->master + from * bytes, bytes);
	return true;
}

static bool
host_change(Measure *m, const Arena *arena, uint32_t from, uint32_t to, int input,
			const Change *change)
{
	tensor_change(host_input(m, arena, from, input), host_input(m, arena, to, input),
				  m->inputs.tensor[input].dtype, m->inputs.tensor[input].elements, change);
	return true;
}

static bool
host_pick(Measure *m, const void *array, const Tensor *tensor, size_t count, double *values)
{
	for (size_t i = 0; i < count; i++)
		values[i] = tensor_load(array, tensor->dtype, tolerance_pick(tensor->elements, count, i));
	return true;
}

static bool
host_bases(Measure *m, const void *outputs, uint32_t n, const Tensor *tensor, void *bases)
{
	for (size_t i = 0; i < tensor->elements; i++)
		tensor_store(bases, tensor->dtype, i,
					 tensor_base(outputs, m->output_bytes, n, tensor->dtype, i), 0);
	return true;
}

static bool
host_thin(Measure *m, const void *from, void *to, const Thinning *thin)
{
	for (uint64_t row = 0; row < thin->rows; row++)
		tensor_thin(from, to, thin, row);
	return true;
}

static bool
host_take(Measure *m, void *memory, const void *from, size_t bytes)
{
	memcpy(memory, from, bytes);
	return true;
}

static double
host_element(Measure *m, const void *array, uint32_t dtype, uint64_t element)
{
	return tensor_load(array, dtype, element);
}

static const ArrayCalls host_arrays = {
	.alloc = host_alloc, .free = host_free, .take = host_take, .input = host_input,
	.copy = host_copy, .change = host_change, .compare = host_compare, .pick = host_pick,
	.bases = host_bases, .thin = host_thin, .element = host_element,
};

/* clang-format off */
#define HOST_CALLS \
	.make_arena = host_make_arena, .unstage = host_unstage, .prepare = host_prepare, \
	.arrays = &host_arrays, .output_share = 8, .light_rate = 1e12, .first_seconds = 30
/* clang-format on */

static bool
c_generate(Measure *m, Arena *arena, uint32_t n)
{
	for (uint32_t r = 0; r < n; r++)
		for (int i = 0; i < m->inputs.n; i++)
		{
			const Argument *a = m->inputs.parameter[i];
			RandomKey	key;

			random_key(&m->random, &key);
			random_fill(arena->master + r * arena->input_slot_bytes + m->inputs.tensor[i].offset,
						a->tensor.dtype, a->tensor.elements, a->init, a->low, a->high, &key);
		}
	return true;
}

static bool
c_start(Measure *m, Executor *executor, Side side, int seat, const Arena *arena)
{
	Sandbox		sandbox = {.no_proc = true};

	return native_start(m, executor, side, arena, "exec-c", &sandbox);
}

/* Each input to its slot, or where it is an output as well to that of the outputs. */
static bool
c_bring(Measure *m, const Arena *arena, Side side, uint32_t slot)
{
	const char *from = arena->master + slot * arena->input_slot_bytes;
	char	   *in_slot = arena->inputs + slot * arena->input_slot_bytes;
	char	   *out_slot = arena->outputs + slot * arena->output_slot_bytes;

	for (int i = 0; i < m->inputs.n; i++)
	{
		const Tensor *input = &m->inputs.tensor[i];
		int			output = m->inputs.parameter[i]->output;

		memcpy(output < 0 ? in_slot + input->offset : out_slot + m->output[output].offset,
			   from + input->offset, input->bytes);
	}
	return true;
}

static bool
c_stage(Measure *m, const Arena *arena, Side side, uint32_t slot)
{
	host_unstage(m, arena, slot);
	if (m->trial.changes & TRIAL_ZEROED)
		memset(arena->outputs + slot * arena->output_slot_bytes, 0, arena->output_slot_bytes);
	return c_bring(m, arena, side, slot);
}

static uint64_t
c_element(Measure *m, Executor *executor, const Arena *arena, uint32_t run, int output,
		  uint64_t element)
{
	const Tensor *t = &m->output[output];

	return (uint64_t) (uintptr_t) (arena->outputs + run * arena->output_slot_bytes + t->offset
								   + element * tensor_dtype(t->dtype)->size);
}

static bool
c_peek(Measure *m, Executor *executor, const uint64_t *address, int n, size_t size,
	   uint64_t *value)
{
	for (int i = 0; i < n; i++)
		memcpy(&value[i], (const void *) (uintptr_t) address[i], size);
	return true;
}

static bool
c_read(Measure *m, Executor *executor, const Arena *arena, uint32_t slot, int output, void *out)
{
	const char *from = arena->outputs + slot * arena->output_slot_bytes;

	memcpy(out, from + m->output[output].offset, m->output[output].bytes);
	return true;
}

/* the source has its own folder, so that messages and __FILE__ name no other */
static bool
c_compiler(Measure *m, Compiler *compiler, bool lines)
{
	*compiler = (Compiler) {
		.argv = {"/usr/bin/gcc", "-O3", "-march=native", "-shared", "-fPIC", lines ? "-g" : "-s",
			"-std=gnu17", "-fdiagnostics-color=never", "-w", "-o", COMPILED, "code.c", "-lm"},
		.source = "code.c",
		.flags = "-O3 -march=native -shared -fPIC -s -std=gnu17"};
	return true;
}

const Backend backend_c = {
	HOST_CALLS,
	.builds.compiler = c_compiler,
	.builds.tool = "gcc",
	.builds.version = "gcc -dumpfullversion 2>/dev/null",
	.generate = c_generate,
	.start = c_start,
	.stage = c_stage,
	.bring = c_bring,
	.element = c_element,
	.peek = c_peek,
	.read = c_read,
};

static bool
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

static uint64_t
torch_cpu_element(Measure *m, Executor *executor, const Arena *arena, uint32_t run, int output,
				  uint64_t element)
{
	const WireTensor *t = &executor_listed(executor, run, m->outputs)[output];

	return t->address + tensor_place(&m->output[output], t->stride, element)
		* tensor_dtype(m->output[output].dtype)->size;
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
	const WireTensor *t = &executor_listed(executor, run, m->outputs)[output];

	if (executor_write_tensor(executor, t, &m->output[output], &m->random,
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
			   void *out)
{
	ExecutorResult result = executor_read_tensor(executor, &executor->listed[output],
												 &m->output[output], out);

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
