/*
 * cuda_device.c
 *		GPUs of this host: which there are, what code on them needs, and whether one is to itself.
 *
 * Everything up to the lock goes by NVIDIA's management library alone, which is resolved at run
 * time and asks the driver without a context: candidates are compiled, and devices listed, while
 * another measurement holds the GPU.
 */
#include <dlfcn.h>
#include <libgen.h>

#include "supervisor/device/device.h"
#include "supervisor/gpu/cuda.h"

#define MORE_THAN_ROOM	7		/* NVML_ERROR_INSUFFICIENT_SIZE */
#define NOT_FOUND		13		/* NVML_ERROR_FUNCTION_NOT_FOUND */
#define MIG_ON "multi-instance mode is on: instances are not measured one by one"

typedef struct NvmlHandle *NvmlRef;

typedef struct NvmlMemory
{
	unsigned long long total,
				left,
				used;
} NvmlMemory;

/* clang-format off */
#define NVML_FUNCTIONS(X) \
	X(Init_v2, (void)) \
	X(DeviceGetCount_v2, (unsigned int *count)) \
	X(DeviceGetHandleByIndex_v2, (unsigned int index, NvmlRef *device)) \
	X(DeviceGetUUID, (NvmlRef device, char *uuid, unsigned int length)) \
	X(DeviceGetName, (NvmlRef device, char *name, unsigned int length)) \
	X(DeviceGetMinorNumber, (NvmlRef device, unsigned int *minor)) \
	X(DeviceGetCudaComputeCapability, (NvmlRef device, int *major, int *minor)) \
	X(DeviceGetMemoryInfo, (NvmlRef device, NvmlMemory *memory)) \
	X(SystemGetDriverVersion, (char *version, unsigned int length)) \
	X(DeviceGetClockInfo, (NvmlRef device, int type, unsigned int *mhz)) \
	X(DeviceGetMaxClockInfo, (NvmlRef device, int type, unsigned int *mhz)) \
	X(DeviceGetMemoryBusWidth, (NvmlRef device, unsigned int *bits)) \
	X(DeviceGetNumGpuCores, (NvmlRef device, unsigned int *cores)) \
	X(DeviceGetTemperature, (NvmlRef device, int sensor, unsigned int *degrees)) \
	X(DeviceGetCurrentClocksThrottleReasons, (NvmlRef device, unsigned long long *reasons)) \
	X(DeviceGetComputeRunningProcesses_v3, (NvmlRef device, unsigned int *count, \
										  void *processes)) \
	X(DeviceGetMigMode, (NvmlRef device, unsigned int *current, unsigned int *pending))

static struct
{
#define NVML_MEMBER(name, parameters) int (*name) parameters;
	NVML_FUNCTIONS(NVML_MEMBER)
#undef NVML_MEMBER
}			nvml;
/* clang-format on */

/* Takes the place of functions that an older driver lacks. */
static int
missing(void)
{
	return NOT_FOUND;
}

/* number of GPUs, 0 without the library */
static int
nvml_count(void)
{
	static int	found = -1;
	void	   *library;
	void	   *function;
	unsigned int count;

	if (found >= 0)
		return found;
	found = 0;
	library = cuda_driver_library("libnvidia-ml.so.1");
	if (!library)
		return 0;
/* clang-format off */
#define NVML_RESOLVE(name, parameters) \
	function = dlsym(library, "nvml" #name); \
	nvml.name = (int (*) parameters) (function ? function : (void *) missing);
	NVML_FUNCTIONS(NVML_RESOLVE)
#undef NVML_RESOLVE
/* clang-format on */
	if (nvml.Init_v2() == 0 && nvml.DeviceGetCount_v2(&count) == 0)
		found = (int) count;
	return found;
}

static bool
handle(int index, NvmlRef *device)
{
	return index < nvml_count() && nvml.DeviceGetHandleByIndex_v2((unsigned int) index,
																  device) == 0;
}

static bool
nvml_device(int index, NvmlDevice *device)
{
	NvmlRef		ref;
	NvmlMemory	memory = {0};
	unsigned int mode,
				pending;

	*device = (NvmlDevice) {.index = index,.minor = (unsigned int) index};
	if (!handle(index, &ref) || nvml.DeviceGetUUID(ref, device->uuid, sizeof(device->uuid)) != 0)
		return false;
	if (nvml.DeviceGetName(ref, device->name, sizeof(device->name)) != 0)
		strcpy(device->name, "unknown GPU");
	nvml.DeviceGetMinorNumber(ref, &device->minor);
	nvml.DeviceGetCudaComputeCapability(ref, &device->major_capability,
										&device->minor_capability);
	nvml.DeviceGetMemoryInfo(ref, &memory);
	device->memory_bytes = memory.total;
	nvml.SystemGetDriverVersion(device->driver, sizeof(device->driver));
	device->mig = nvml.DeviceGetMigMode(ref, &mode, &pending) == 0 && mode == 1;
	return true;
}

/* times what a GPU's float32 units do, the most that its tensor cores do in half precision */
#define TENSOR_CORES	16

/* notes bytes of memory and operations a second at the highest clocks, where they are known */
static void
note_light(int index, json_t *details)
{
	NvmlRef		ref;
	unsigned int bits,
				memory_mhz,
				cores,
				mhz;

	if (!handle(index, &ref)
		|| nvml.DeviceGetMaxClockInfo(ref, 1, &mhz) != 0
		|| nvml.DeviceGetMaxClockInfo(ref, 2, &memory_mhz) != 0
		|| nvml.DeviceGetMemoryBusWidth(ref, &bits) != 0
		|| nvml.DeviceGetNumGpuCores(ref, &cores) != 0)
		return;
	/* two transfers, and a multiplication and an addition, a cycle */
	json_object_set_new(details, "bandwidth", json_real(2e6 * memory_mhz * bits / 8));
	json_object_set_new(details, "peak", json_real(2e6 * mhz * cores * TENSOR_CORES));
}

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

/* "hw_thermal_slowdown, ..." */
static void
throttle_text(unsigned long long reasons, char *text, size_t size)
{
	static const char *const names[] = {"idle", "application_clocks", "power_cap", "hw_slowdown",
		"sync_boost", "sw_thermal_slowdown",
	"hw_thermal_slowdown", "hw_power_brake", "display_clocks"};
	size_t		length = 0;

	text[0] = '\0';
	for (int i = 0; i < 9 && length < size; i++)
		if (reasons >> i & 1)
			length += (size_t) snprintf(text + length, size - length, "%s%s", length ? ", " : "",
										names[i]);
}

/* Widens the range that a number has had until now, and notes it. */
static void
note_range(Measure *m, const char *name, int *range, unsigned int value)
{
	int			now = (int) value;

	range[0] = range[1] == 0 || now < range[0] ? now : range[0];
	range[1] = now > range[1] ? now : range[1];
	json_object_set_new(m->environment, name, json_pack("[i, i]", range[0], range[1]));
}

void
gpu_note_state(Measure *m)
{
	GpuSeen    *seen = &m->gpu->seen;
	/* this process, and the generator of inputs */
	int			own = 1 + m->live.generating;
	NvmlRef		ref;
	unsigned int value;
	unsigned int n = 0;
	unsigned long long throttle = 0;
	char		text[200];
	int			answer;

	if (!handle(m->gpu->nvml.index, &ref))
		return;
	if (nvml.DeviceGetClockInfo(ref, 1, &value) == 0)
		note_range(m, "sm_mhz", seen->sm_mhz, value);
	if (nvml.DeviceGetTemperature(ref, 0, &value) == 0)
		note_range(m, "temperature", seen->temperature, value);
	nvml.DeviceGetCurrentClocksThrottleReasons(ref, &throttle);
	seen->throttle |= throttle;
	throttle_text(seen->throttle, text, sizeof(text));
	json_object_set_new(m->environment, "throttle", json_string(text));
	answer = nvml.DeviceGetComputeRunningProcesses_v3(ref, &n, NULL);
	if ((answer == 0 || answer == MORE_THAN_ROOM) && (int) n - own > seen->foreign)
		seen->foreign = (int) n - own;
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
		bool		usable;

		if (!nvml_device(i, &d))
			continue;
		details = json_pack("{s:I, s:i, s:o, s:s, s:s}", "memory_mb",
							(json_int_t) (d.memory_bytes >> 20), "index", d.index,
							"compute_capability",
							json_sprintf("%d.%d", d.major_capability, d.minor_capability),
							"driver", d.driver, "runner", CUDAL1_VERSION);
		note_light(i, details);
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
		if (torch_cuda[0])
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
