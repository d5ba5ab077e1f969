/*
 * cuda_device.c
 *		GPUs of this host: which there are, what code on them needs, and whether one is to itself.
 *
 * Everything up to the lock goes by NVML alone, which creates no context: candidates are compiled,
 * and devices listed, while another measurement holds the GPU.
 */
#include <libgen.h>
#include <limits.h>

#include "supervisor/device/device.h"
#include "supervisor/gpu/cuda.h"

#define MIG_ON "multi-instance mode is on: instances are not measured one by one"

bool
gpu_key(const char *key)
{
	return strncmp(key, "GPU-", 4) == 0 || strncmp(key, "cuda", 4) == 0;
}

/* The toolkit's compiler, with symbolic links resolved; empty: there is none. */
static void
find_nvcc(char path[PATH_MAX])
{
	text_first_line(NVCC_PATH "realpath \"$(command -v nvcc)\" 2>/dev/null", path, PATH_MAX);
}

bool
gpu_prepare(Measure *m, const cpu_set_t *allowed)
{
	const char *key = m->device.key;
	/* A profiler asks what compilers need to know of a GPU once that is closed. */
	static Gpu	known;
	Gpu		   *gpu = m->gpu = &known;
	const char *problem = NULL;
	bool		found = false;
	int			n = nvml_count();
	int			core;

	memset(gpu, 0, sizeof(*gpu));
	if (!cuda_driver_load(&gpu->driver, &problem))
		return conclude(m, OUTCOME_LOST, "this host has no device %s: %s", key, problem);
	for (int i = 0; i < n && !found; i++)
	{
		char		ordinal[32];

		if (!nvml_device(i, &gpu->nvml))
			continue;
		snprintf(ordinal, sizeof(ordinal), "cuda:%d", i);
		found = strcmp(key, gpu->nvml.uuid) == 0 || strcmp(key, ordinal) == 0
			|| strcmp(key, "cuda") == 0;
	}
	if (!found)
		return conclude(m, OUTCOME_LOST, "this host has no device %s", key);
	/* an executor would not find an instance in its sandbox, and its task would seem bad */
	if (gpu->nvml.mig)
		return conclude(m, OUTCOME_LOST, "device %s: " MIG_ON, key);
	memcpy(m->device.key, gpu->nvml.uuid, sizeof(gpu->nvml.uuid));
	core = cores_device(allowed, 1 + gpu->nvml.index, n);
	json_object_set_new(m->environment, "cores", json_sprintf("%d", core));
	CPU_ZERO(&m->device.cores);
	CPU_SET(core, &m->device.cores);
	m->device.spare_core = cores_keep_off(allowed, &m->device.cores, n) > 1;
	find_nvcc(gpu->nvcc);
	strcpy(gpu->toolkit, gpu->nvcc);
	if (gpu->nvcc[0])
		dirname(dirname(gpu->toolkit));
	return true;
}

/*
 * Words of code that may have several things to do on a GPU at once: streams and graphs, which what
 * PyTorch compiles may have, too, and, at the beginning of a name, cuDNN's recurrent layers and
 * convolutions of groups, and the solvers of linear algebra, which use streams of their own. ReLU(
 * is no lu(, nor is eight an eigh(.
 */
#define CONCURRENT	\
	"stream|graph|\\.compile|dynamo|[._]solve\\(|(^|[^a-z])(groups|rnn|lstm|gru|linalg|" \
	"p?inverse\\(|svd|eigh?\\(|eigvals|lstsq|cholesky|qr\\(|lu[_(]|(log|slog)?det\\()"

/*
 * Whether all code of the heat has a single thing to do at a time. A context's queues for streams
 * are most of what takes time to make and to end, under locks of the whole host, and such code has
 * no use for more than one. What hides from the words only loses queues.
 */
static bool
one_queue_will_do(const Measure *m)
{
	for (int i = 0; i < m->nmembers; i++)
		if (text_matches(m->members[i].code.source, CONCURRENT, true))
			return false;
	return !text_matches(m->job->reference, CONCURRENT, true);
}

void
gpu_sandbox(const Measure *m, Sandbox *sandbox, bool device)
{
	static const char *const shared[] = {"/dev/nvidiactl", "/dev/nvidia-uvm",
		"/dev/nvidia-uvm-tools"};
	Gpu		   *gpu = m->gpu;

	for (int i = 0; device && i < 3; i++)
		if (access(shared[i], F_OK) == 0)
			sandbox->devices[sandbox->ndevices++] = shared[i];
	snprintf(gpu->node, sizeof(gpu->node), "/dev/nvidia%u", gpu->nvml.minor);
	if (device)
		sandbox->devices[sandbox->ndevices++] = gpu->node;
	sandbox->binds[sandbox->nbinds++] = (SandboxBind) {"/sys", false};
	if (gpu->driver.folder[0] && strncmp(gpu->driver.folder, "/usr/", 5) != 0
		&& strncmp(gpu->driver.folder, "/lib", 4) != 0)
		sandbox->binds[sandbox->nbinds++] = (SandboxBind) {gpu->driver.folder, false};
	/* compiled kernels would be kept in files, which candidates can't write */
	sandbox_set(sandbox, "CUDA_CACHE_DISABLE", "1");
	sandbox_set(sandbox, "CUDA_VISIBLE_DEVICES", gpu->nvml.uuid);
	sandbox_set(sandbox, "LD_LIBRARY_PATH", gpu->driver.folder);
	if (one_queue_will_do(m))
		sandbox_set(sandbox, "CUDA_DEVICE_MAX_CONNECTIONS", "1");
}

void
gpu_environment(Measure *m)
{
	int			version = 0;

	json_object_set_new(m->environment, "gpu", json_string(m->gpu->nvml.name));
	json_object_set_new(m->environment, "driver", json_string(m->gpu->nvml.driver));
	if (m->gpu->driver.DriverGetVersion(&version) == 0)
		json_object_set_new(m->environment, "cuda_driver",
							json_sprintf("%d.%d", version / 1000, version % 1000 / 10));
}

static void
note_range(Measure *m, const char *name, const int *range)
{
	if (range[1] > 0)
		json_object_set_new(m->environment, name, json_pack("[i, i]", range[0], range[1]));
}

void
gpu_note_state(Measure *m)
{
	GpuSeen    *seen = &m->gpu->seen;
	char		text[200];

	/* this process, and the generator of inputs */
	nvml_see(m->gpu->nvml.index, 1 + m->live.generating, seen);
	note_range(m, "sm_mhz", seen->sm_mhz);
	note_range(m, "temperature", seen->temperature);
	nvml_throttle_text(seen->throttle, text, sizeof(text));
	json_object_set_new(m->environment, "throttle", json_string(text));
	if (seen->foreign > 0)
		json_object_set_new(m->environment, "foreign_processes", json_integer(seen->foreign));
}

void
gpu_list(const Options *options, const char *problem, const char *torch, const char *torch_cuda)
{
	CuDriver	driver;
	const char *driver_problem = NULL;
	char		nvcc[PATH_MAX];
	char		text[PATH_MAX + 200];
	int			n = nvml_count();

	if (n == 0)
		return;
	cuda_driver_load(&driver, &driver_problem);
	find_nvcc(nvcc);
	for (int i = 0; i < n; i++)
	{
		NvmlDevice	d;
		json_t	   *languages = json_array();
		json_t	   *problems = json_array();
		json_t	   *details;
		double		bandwidth,
					peak;
		bool		usable;

		if (!nvml_device(i, &d))
			continue;
		details = json_pack("{s:I, s:i, s:o, s:s, s:s}", "memory_mb",
							(json_int_t) (d.memory_bytes >> 20), "index", d.index,
							"compute_capability",
							json_sprintf("%d.%d", d.major_capability, d.minor_capability),
							"driver", d.driver, "runner", CUDAL1_VERSION);
		if (nvml_light(i, &bandwidth, &peak))
			json_object_update_new(details, json_pack("{s:f, s:f}", "bandwidth", bandwidth, "peak",
													  peak));
		device_note(problems, problem);
		device_note(problems, driver_problem);
		device_note(problems, gpu_kernels[0] ? NULL : GPU_NO_KERNELS);
		device_note(problems, d.mig ? MIG_ON : NULL);
		usable = json_array_size(problems) == 0;
		if (nvcc[0])
			json_object_set_new(details, "nvcc", json_string(nvcc));
		else
			device_note(problems, "no nvcc: tasks in cuda can't be measured; install the CUDA "
						"toolkit in /usr/local/cuda, or put nvcc on the PATH");
		device_note(languages, usable && nvcc[0] ? "cuda" : NULL);
		if (torch_cuda && torch_cuda[0])
		{
			json_object_set_new(details, "torch", json_string(torch));
			json_object_set_new(details, "torch_cuda", json_string(torch_cuda));
			json_object_set_new(details, "python", json_string(options->python));
			device_note(languages, usable ? "pytorch" : NULL);
		}
		else
		{
			snprintf(text, sizeof(text), "%s has no PyTorch built for CUDA: tasks in pytorch are "
					 "not measured here; set cudal1.python", options->python);
			device_note(problems, text);
		}
		device_print(d.uuid, "cuda", d.name, languages, problems, details);
	}
}
