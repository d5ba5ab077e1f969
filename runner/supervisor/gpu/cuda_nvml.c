/*
 * cuda_nvml.c
 *		NVIDIA's management library, resolved at run time. It asks the driver without creating a
 *		context, so listing devices and looking at a GPU that another measurement holds does not
 *		disturb that.
 */
#include <dlfcn.h>
#include <stdint.h>

#include "supervisor/gpu/cuda.h"

#define MORE_THAN_ROOM	7		/* NVML_ERROR_INSUFFICIENT_SIZE */
#define NOT_FOUND		13		/* NVML_ERROR_FUNCTION_NOT_FOUND */

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

int
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

bool
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

bool
nvml_light(int index, double *bandwidth, double *peak)
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
		return false;
	/* two transfers, and a multiplication and an addition, a cycle */
	*bandwidth = 2e6 * memory_mhz * bits / 8;
	*peak = 2e6 * mhz * cores * TENSOR_CORES;
	return true;
}

static void
widen(int *range, int value)
{
	range[0] = range[1] == 0 || value < range[0] ? value : range[0];
	range[1] = value > range[1] ? value : range[1];
}

void
nvml_see(int index, int own, GpuSeen *seen)
{
	NvmlRef		ref;
	unsigned int value;
	unsigned int n = 0;
	unsigned long long throttle = 0;
	int			answer;

	if (!handle(index, &ref))
		return;
	if (nvml.DeviceGetClockInfo(ref, 1, &value) == 0)
		widen(seen->sm_mhz, (int) value);
	if (nvml.DeviceGetTemperature(ref, 0, &value) == 0)
		widen(seen->temperature, (int) value);
	nvml.DeviceGetCurrentClocksThrottleReasons(ref, &throttle);
	seen->throttle |= throttle;
	answer = nvml.DeviceGetComputeRunningProcesses_v3(ref, &n, NULL);
	if ((answer == 0 || answer == MORE_THAN_ROOM) && (int) n - own > seen->foreign)
		seen->foreign = (int) n - own;
}

void
nvml_throttle_text(unsigned long long reasons, char *text, size_t size)
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
