/*
 * cuda.c
 *		CUDA: compiled code in a process of exec-cuda, its arrays in memory of the GPU.
 */
#include "supervisor/backend/parts.h"
#include "supervisor/gpu/cuda.h"

/* goes into a library of CUDA code: its runtime is its own, and so is that runtime's last error */
#define CUDA_PROBE \
	"extern \"C\" int cudaGetLastError(void);\n" \
	"extern \"C\" const char *cudaGetErrorString(int);\n" \
	"extern \"C\" const char *cudal1_last_error(void) " \
	"{ int e = cudaGetLastError(); return e ? cudaGetErrorString(e) : 0; }\n"

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
