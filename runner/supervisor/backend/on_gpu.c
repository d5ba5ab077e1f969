/*
 * on_gpu.c
 *		Runs on a GPU. CUDA: compiled code in a process of exec-cuda, its arrays in memory of the
 *		GPU. PyTorch: processes that allocate from a pool of their own there.
 */
#include <stdio.h>

#include "supervisor/backend/parts.h"
#include "supervisor/build/build.h"
#include "supervisor/gpu/cuda.h"

#define LEAST_TIMES		4		/* times what the reference took, the least of a pool */
#define LEAST_POOL		((size_t) 2 << 30)

/* goes into a library of CUDA code: its runtime is its own, and so is that runtime's last error */
#define CUDA_PROBE \
	"extern \"C\" int cudaGetLastError(void);\n" \
	"extern \"C\" const char *cudaGetErrorString(int);\n" \
	"extern \"C\" const char *cudal1_last_error(void) " \
	"{ int e = cudaGetLastError(); return e ? cudaGetErrorString(e) : 0; }\n"

/* clang-format off */
#define GPU_CALLS \
	.apart = true, .describe = gpu_environment, .start_driver = gpu_start_driver, \
	.open = gpu_open, .stage = gpu_stage, .unstage = gpu_unstage, \
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
begin_pair(Measure *m, Arena *arena)
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
cuda_compiler(Measure *m, Compiler *compiler)
{
	const char *argv[] = {m->gpu->nvcc, "-O3", compiler->arch, "-shared", "-Xcompiler",
		"-fPIC,-fdiagnostics-color=never", "-w", "-o", compiler->library, "code.cu", "errors.cpp",
		"-lm", "-Xlinker", "-s", NULL};

	if (!m->gpu->nvcc[0])
		return conclude(m, OUTCOME_LOST, "no nvcc; install the CUDA toolkit in /usr/local/cuda, or "
						"put nvcc on the PATH");
	memcpy(compiler->argv, argv, sizeof(argv));
	snprintf(compiler->arch, sizeof(compiler->arch), "-arch=sm_%d%d",
			 m->gpu->nvml.major_capability, m->gpu->nvml.minor_capability);
	snprintf(compiler->flags, sizeof(compiler->flags), "-O3 %s", compiler->arch);
	compiler->source = "code.cu";
	compiler->probe = "errors.cpp";
	compiler->probe_text = CUDA_PROBE;
	compiler->toolkit = strncmp(m->gpu->toolkit, "/usr/", 5) != 0 ? m->gpu->toolkit : NULL;
	compiler->reads_proc = true;
	return true;
}

static ExecutorResult
cuda_start(Measure *m, Executor *executor, Side side, int seat, const Arena *arena)
{
	const char *environment[24] = {"PATH", "/usr/bin:/bin", "LANG", "C", NULL};
	/*
	 * the CUDA driver looks into /proc; with exec-cuda for process 1 there is no other process to
	 * be found there
	 */
	Sandbox		sandbox = {.environment = environment,.first = true};
	Arena		own = gpu_arena_of(arena, side);

	gpu_sandbox(m, &sandbox, environment, 4, true);
	return native_start(m, executor, side, &own, "exec-cuda", &sandbox);
}

const Backend backend_cuda = {
	.builds.version = NVCC_PATH "nvcc --version 2>/dev/null | tail -n 1",
	.builds.compiler = cuda_compiler,
	.make_arena = gpu_make_arena,
	.generate = gpu_generate,
	.start = cuda_start,
	GPU_CALLS,
};

static bool
torch_gpu_make_arena(Measure *m, Arena *arena, uint32_t slots)
{
	return gpu_make_arena(m, arena, slots) && torch_hand_arena(m, arena);
}

static ExecutorResult
torch_gpu_start(Measure *m, Executor *executor, Side side, int seat, const Arena *arena)
{
	Arena		own = gpu_arena_of(arena, side);
	struct GpuMemory *pool = gpu_pool_create(m);
	ExecutorResult result;

	if (!pool)
		return EXECUTOR_BROKEN;
	result = torch_fork(m, executor, seat,
						(int[]) {own.inputs_fd, m->code[side]->source_fd, pool->fd}, 3);
	executor->pool = pool;
	executor->pool_bytes = pool->bytes;
	executor->release = gpu_pool_destroy;
	return result;
}

static void
torch_gpu_interpreter(Measure *m, Interpreter *i, Sandbox *sandbox, InterpreterUse use)
{
	const Gpu  *gpu = m->gpu;

	i->pairs = gpu_sandbox(m, sandbox, i->environment, i->pairs, use != USE_AHEAD);
	if (use == USE_FORKS)
	{
		/* the memory of PyTorch's allocator comes through it */
		snprintf(i->preload, sizeof(i->preload), "%s/libcudal1pool.so", m->options->libdir);
		interpreter_set(i, "LD_PRELOAD", i->preload);
	}
	if (!gpu->toolkit[0])
		return;
	snprintf(i->tools, sizeof(i->tools), "%s/bin:", gpu->toolkit);
	if (m->builds.kinds)
	{
		snprintf(i->arch, sizeof(i->arch), "%d.%d", gpu->nvml.major_capability,
				 gpu->nvml.minor_capability);
		interpreter_set(i, "CUDA_HOME", gpu->toolkit);
		interpreter_set(i, "TORCH_CUDA_ARCH_LIST", i->arch);
	}
}

const Backend backend_torch_gpu = {
	.module = true,
	.builds.interpreter = torch_gpu_interpreter,
	.make_arena = torch_gpu_make_arena,
	.generate = torch_generate,
	.start = torch_gpu_start,
	.poke = gpu_poke,
	GPU_CALLS,
};
