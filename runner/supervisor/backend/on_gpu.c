/*
 * on_gpu.c
 *		Runs on a GPU. CUDA: compiled code in a process of exec-cuda, its arrays in memory of the
 *		GPU. PyTorch: processes that allocate from a pool of their own there.
 *
 * In a window an input comes by a copy from page-locked memory, which an engine of its own makes in
 * 10 us. A kernel of the supervisor's would take the GPU from the executor's for 0.15 ms, and so
 * would a copy from device to device. The driver sends copies of less than 32 kB along with
 * commands, through the engine of kernels, unless they have rows. So copies here have two rows, but
 * for those of single bytes.
 */
#include "supervisor/build/build.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/time/time.h"

#define CARRY_BYTES		((size_t) 128 << 20)	/* page-locked, at most */
#define ROW_GAP			64		/* bytes: rows that lie end to end would be one */
#define GRAIN			16		/* bytes that are copied together */
#define FARTHEST		((uint64_t) 1 << 30)	/* bytes between two rows of a copy */
#define REST_SECONDS	1e-3	/* a time slice of a resident kernel takes twice as long */
#define REST_TRIES		3		/* a hiccup of the host passes */
#define NOISE_AT		2048	/* in gpu->few */
#define LEAST_TIMES		4		/* times what the reference took, the least of a pool */
#define LEAST_POOL		((size_t) 2 << 30)

/* goes into a library of CUDA code: its runtime is its own, and so is that runtime's last error */
#define CUDA_PROBE \
	"extern \"C\" int cudaGetLastError(void);\n" \
	"extern \"C\" const char *cudaGetErrorString(int);\n" \
	"extern \"C\" const char *cudal1_last_error(void) " \
	"{ int e = cudaGetLastError(); return e ? cudaGetErrorString(e) : 0; }\n"

static bool
cuda_generate(Measure *m, Arena *arena, uint32_t n)
{
	for (int i = 0; i < m->inputs.n; i++)
	{
		Argument	a = *m->inputs.parameter[i];
		uint64_t	offset = m->inputs.tensor[i].offset;
		uint64_t	seed = random_next(&m->random);
		void	   *parameters[] = {&arena->gpu->master.address, &arena->input_slot_bytes,
			&offset, &a.tensor.elements, &a.tensor.dtype, &a.init, &a.low, &a.high, &seed};

		if (!gpu_launch(m, GPU_FILL, (a.tensor.elements + 3) / 4, n, parameters))
			return false;
	}
	return gpu_synchronize(m);
}

/* Noise to the outputs of `n` slots from `first` on, but to those that are inputs, too. */
static bool
noise_outputs(Measure *m, const Arena *arena, Side side, uint32_t first, uint32_t n)
{
	for (int i = 0; !m->backend->module && i < m->outputs; i++)
	{
		uint64_t	slot_bytes = arena->output_slot_bytes;
		uint64_t	offset = m->output[i].offset;
		uint64_t	bytes = measure_gathered(&m->output[i]);
		uint64_t	seed = random_next(&m->random);
		CuAddress	outputs = gpu_outputs(arena, side, 0);
		void	   *parameters[] = {&outputs, &slot_bytes, &first, &offset, &bytes, &seed};

		if (m->inputs.comes_in[i])
			continue;
		if (!gpu_launch(m, GPU_POISON, bytes / 16, n, parameters))
			return false;
		for (uint32_t r = first; m->trial.changes & TRIAL_ZEROED && r < first + n; r++)
			if (!gpu_good(m, m->gpu->driver.MemsetD8(outputs + r * slot_bytes + offset, 0, bytes),
						  "to stage outputs"))
				return false;
	}
	return gpu_synchronize(m);
}

/* Copies the bytes of a piece of a run's input, up to `end`, to where executors find them. */
static bool
copy_piece(Measure *m, const CudaPiece *p, uint64_t first, uint64_t end)
{
	return first == end
		|| gpu_good(m, m->gpu->driver.MemcpyDtoD(p->to + first, p->from + first, end - first),
					"to stage inputs");
}

static bool
stage_run(Measure *m, const Arena *arena, Side side, uint32_t slot)
{
	CudaPieces	pieces = gpu_pieces(m, arena, side, slot);
	bool		good = noise_outputs(m, arena, side, slot, 1);

	for (uint32_t i = 0; i < pieces.n && good; i++)
		good = copy_piece(m, &pieces.piece[i], 0, pieces.piece[i].bytes);
	return good && gpu_synchronize(m);
}

/* page-locked memory for the inputs of a round */
static bool
make_room(Measure *m, size_t bytes)
{
	GpuLate    *late = &m->gpu->late;

	if (late->bytes >= bytes)
		return true;
	if (late->input)
		m->gpu->driver.MemFreeHost(late->input);
	late->input = NULL;
	late->bytes = gpu_good(m, m->gpu->driver.MemHostAlloc((void **) &late->input, bytes, 1),
						   "to bring an input") ? bytes : 0;
	return late->bytes > 0;
}

/* Sends a copy between rows on the device and rows in page-locked memory on its way. */
static bool
copy_rows(Measure *m, CuAddress device, size_t pitch, char *host, size_t host_pitch, size_t width,
		  size_t height, bool up)
{
	CuCopy		copy = {.from_type = up ? 1 : 2,.to_type = up ? 2 : 1,.from = device,.to = device,
		.from_host = host,.to_host = host,.from_pitch = up ? host_pitch : pitch,
		.to_pitch = up ? pitch : host_pitch,.width = width,.height = height};

	return gpu_good(m, m->gpu->driver.Memcpy2DAsync(&copy, m->gpu->stream), "to copy arrays");
}

/* Sends late parts of a run's input up to where executors find them, or down from the master. */
static bool
copy_parts(Measure *m, const Arena *arena, Side side, uint32_t slot, bool up)
{
	const GpuLate *late = &m->gpu->late;
	CudaPieces	pieces = gpu_pieces(m, arena, side, slot);

	for (uint32_t j = 0; j < pieces.n; j++)
	{
		CuAddress	device = up ? pieces.piece[j].to : pieces.piece[j].from;
		size_t		width = late->part[j] / 2;

		if (width > 0
			&& !copy_rows(m, device + late->offset[j], width,
						  late->input + slot * late->stretch + late->at[j], width + ROW_GAP, width,
						  2, up))
			return false;
	}
	return true;
}

/* Draws the late part of each piece of an input: all of it, if there is room. */
static void
draw_parts(Measure *m, const Arena *arena, size_t room)
{
	GpuLate    *late = &m->gpu->late;
	CudaPieces	pieces = gpu_pieces(m, arena, SIDE_REFERENCE, 0);
	uint64_t	bytes = 0;

	late->stretch = 0;
	for (uint32_t j = 0; j < pieces.n; j++)
		bytes += pieces.piece[j].bytes;
	for (uint32_t j = 0; j < pieces.n; j++)
	{
		uint64_t	all = pieces.piece[j].bytes / GRAIN;
		uint64_t	part = bytes <= room ? all
			: (uint64_t) ((double) all * ((double) room / (double) bytes));

		late->part[j] = part * GRAIN;
		late->offset[j] = random_below(&m->random, all - part + 1) * GRAIN;
		late->at[j] = late->stretch;
		late->stretch += late->part[j] + ROW_GAP;
	}
}

static bool
gpu_load(Measure *m, Arena *arena, uint32_t n)
{
	draw_parts(m, arena, CARRY_BYTES / n);
	if (!make_room(m, n * m->gpu->late.stretch))
		return false;
	for (uint32_t slot = 0; slot < n; slot++)
		if (!copy_parts(m, arena, SIDE_REFERENCE, slot, false))
			return false;
	return gpu_good(m, m->gpu->driver.StreamSynchronize(m->gpu->stream), "to bring an input");
}

/* Stages inputs but for their late parts, where data of an earlier round stay. */
static bool
stage(Measure *m, const Arena *arena, Side side, uint32_t n)
{
	const GpuLate *late = &m->gpu->late;

	for (uint32_t slot = 0; slot < n; slot++)
	{
		CudaPieces	pieces = gpu_pieces(m, arena, side, slot);

		for (uint32_t j = 0; j < pieces.n; j++)
			if (!copy_piece(m, &pieces.piece[j], 0, late->offset[j])
				|| !copy_piece(m, &pieces.piece[j], late->offset[j] + late->part[j],
							   pieces.piece[j].bytes))
				return false;
	}
	return true;
}

/*
 * Stages a window, and then fills the GPU's cache with memory of the supervisor's. What it holds of
 * a window's arrays hangs on whose the last window was, and is worth a fifth of 70 us.
 */
static bool
gpu_prepare_window(Measure *m, const Arena *arena, Side side, uint32_t n)
{
	Gpu		   *gpu = m->gpu;

	return noise_outputs(m, arena, side, 0, n) && stage(m, arena, side, n)
		&& gpu_good(m, gpu->driver.MemsetD8(gpu->flush, 0, gpu->flush_bytes), "to be used")
		&& gpu_synchronize(m);
}

static bool
gpu_bring(Measure *m, const Arena *arena, Side side, uint32_t slot)
{
	return copy_parts(m, arena, side, slot, true)
		&& gpu_good(m, m->gpu->driver.StreamSynchronize(m->gpu->stream), "to bring an input");
}

/*
 * Elements two by two, as the rows of a copy; of a single one the two halves. Where two lie too far
 * apart, or are the same, each is copied by itself.
 */
static bool
copy_few(Measure *m, const uint64_t *address, int n, size_t size, char *host, bool up)
{
	Gpu		   *gpu = m->gpu;

	for (int i = 0; i < n;)
	{
		uint64_t	low = address[i];
		uint64_t	high = i + 1 < n ? address[i + 1] : 0;
		bool		both = high >= low + size && high - low <= FARTHEST;
		size_t		width = both || size < 2 ? size : size / 2;

		if (!copy_rows(m, low, both ? high - low : width, host + (size_t) i * sizeof(uint64_t),
					   both ? sizeof(uint64_t) : width, width, both || size > 1 ? 2 : 1, up))
			return false;
		i += both ? 2 : 1;
	}
	return gpu_good(m, gpu->driver.StreamSynchronize(gpu->stream), "to read outputs");
}

static bool
gpu_peek(Measure *m, Executor *executor, const uint64_t *address, int n, size_t size,
		 uint64_t *value)
{
	memset(m->gpu->few, 0, LOOKS * sizeof(uint64_t));
	if (!copy_few(m, address, n, size, m->gpu->few, false))
		return false;
	memcpy(value, m->gpu->few, (size_t) n * sizeof(uint64_t));
	return true;
}

static bool
gpu_poke(Measure *m, const uint64_t *address, int n, size_t size)
{
	char	   *noise = m->gpu->few + NOISE_AT;

	if (n <= 0)
		return true;
	memcpy(noise, m->noise + random_below(&m->random, NOISE_BYTES - LOOKS * sizeof(uint64_t)),
		   LOOKS * sizeof(uint64_t));
	return copy_few(m, address, n, size, noise, true);
}

/*
 * A command of the supervisor's starts at once where the GPU rests. A kernel that is resident costs
 * it a time slice, however often it is tried.
 */
static bool
gpu_rests(Measure *m, bool *rests)
{
	*rests = false;
	for (int i = 0; i < REST_TRIES && !*rests; i++)
	{
		double		started = clock_now();

		if (!gpu_good(m, m->gpu->driver.MemsetD8(m->gpu->comparison, 0, 1), "to be used")
			|| !gpu_synchronize(m))
			return false;
		*rests = clock_now() - started < REST_SECONDS;
	}
	return true;
}

/* clang-format off */
#define GPU_CALLS \
	.apart = true, .describe = gpu_environment, .start_driver = gpu_start_driver, \
	.open = gpu_open, .make_arena = make_arena, .stage = stage_run, .unstage = gpu_unstage, \
	.inputs_same = gpu_inputs_same, .arrays = &gpu_arrays, .memory_left = gpu_memory_left, \
	.load = gpu_load, .prepare = gpu_prepare_window, .bring = gpu_bring, \
	.element = gpu_element, .peek = gpu_peek, .rests = gpu_rests, \
	.light_rate = 4e13, .first_seconds = INFINITY, .builds.key = build_key, \
	.output_share = 0.25, .begin_pair = begin_pair, .room = room_for, .read = gpu_read
/* clang-format on */

static void
build_key(Measure *m, json_t *key)
{
	json_object_set_new(key, "gpu", json_string(m->gpu->nvml.name));
	json_object_set_new(key, "driver", json_string(m->gpu->nvml.driver));
	json_object_set_new(key, "toolkit", json_string(m->gpu->toolkit));
}

static bool
make_arena(Measure *m, Arena *arena, uint32_t slots)
{
	return gpu_make_arena(m, arena, slots) && (!m->backend->module || torch_hand_arena(m, arena));
}

static bool
begin_pair(Measure *m, Arena *arena)
{
	gpu_note_state(m);
	return gpu_draw_memory(m, arena);
}

/* each gets an equal part of what is left for its pool */
static int
room_for(Measure *m, int n)
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

static bool
cuda_compiler(Measure *m, Compiler *compiler, bool lines)
{
	if (!m->gpu->nvcc[0])
		return conclude(m, OUTCOME_LOST, "no nvcc; install the CUDA toolkit in /usr/local/cuda, or "
						"put nvcc on the PATH");
	*compiler = (Compiler) {
		.argv = {m->gpu->nvcc, "-O3", compiler->arch, "-shared", "-Xcompiler",
			"-fPIC,-fdiagnostics-color=never", "-w", "-o", COMPILED, "code.cu", "-lm",
			lines ? "-lineinfo" : "errors.cpp", lines ? NULL : "-Xlinker", "-s"},
		.source = "code.cu",.probe = "errors.cpp",.probe_text = CUDA_PROBE,.reads_proc = true,
		.toolkit = strncmp(m->gpu->toolkit, "/usr/", 5) != 0 ? m->gpu->toolkit : NULL};
	snprintf(compiler->arch, sizeof(compiler->arch), "-arch=sm_%d%d",
			 m->gpu->nvml.major_capability, m->gpu->nvml.minor_capability);
	snprintf(compiler->flags, sizeof(compiler->flags), "-O3 %s", compiler->arch);
	return true;
}

static bool
cuda_start(Measure *m, Executor *executor, Side side, int seat, const Arena *arena)
{
	/* The driver looks into /proc, where exec-cuda, as process 1, is the only process. */
	Sandbox		sandbox = {.first = true};
	Arena		own = gpu_arena_of(arena, side);

	gpu_sandbox(m, &sandbox, true);
	return native_start(m, executor, side, &own, "exec-cuda", &sandbox);
}

const Backend backend_cuda = {
	.builds.compiler = cuda_compiler,
	.builds.tool = "nvcc",
	.builds.version = NVCC_PATH "nvcc --version 2>/dev/null | tail -n 1",
	.generate = cuda_generate,
	.start = cuda_start,
	GPU_CALLS,
};

static bool
torch_gpu_start(Measure *m, Executor *executor, Side side, int seat, const Arena *arena)
{
	Arena		own = gpu_arena_of(arena, side);
	struct GpuMemory *pool = gpu_pool_create(m);
	bool		forked;

	if (!pool)
		return false;
	forked = torch_fork(m, executor, seat,
						(int[]) {own.inputs_fd, m->code[side]->source_fd, pool->fd}, 3);
	executor->pool = pool;
	executor->pool_bytes = pool->bytes;
	executor->release = gpu_pool_destroy;
	return forked;
}

static void
torch_gpu_interpreter(Measure *m, Interpreter *i, Sandbox *sandbox, InterpreterUse use)
{
	const Gpu  *gpu = m->gpu;

	gpu_sandbox(m, sandbox, use != USE_AHEAD);
	if (use == USE_FORKS)
	{
		/* the memory of PyTorch's allocator comes through it */
		snprintf(i->preload, sizeof(i->preload), "%s/libcudal1pool.so", m->options->libdir);
		sandbox_set(sandbox, "LD_PRELOAD", i->preload);
	}
	if (!gpu->toolkit[0])
		return;
	snprintf(i->tools, sizeof(i->tools), "%s/bin:", gpu->toolkit);
	if (m->builds.kinds)
	{
		snprintf(i->arch, sizeof(i->arch), "%d.%d", gpu->nvml.major_capability,
				 gpu->nvml.minor_capability);
		sandbox_set(sandbox, "CUDA_HOME", gpu->toolkit);
		sandbox_set(sandbox, "TORCH_CUDA_ARCH_LIST", i->arch);
	}
}

const Backend backend_torch_gpu = {
	.module = true,
	.builds.interpreter = torch_gpu_interpreter,
	.generate = torch_generate,
	.start = torch_gpu_start,
	.poke = gpu_poke,
	GPU_CALLS,
};
