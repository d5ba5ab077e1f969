/* kind: 9 clocks; task: gpu_rowsum; outcome: successful, unstable, wrong_output, cheat
 * Asks the driver's management library for low clocks and a small power limit, for the reference to suffer from. */
#include <dlfcn.h>
#include "reference.cu"

__attribute__((constructor)) static void slow(void)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	void *device;

	if (!library || ((int (*)(void)) dlsym(library, "nvmlInit_v2"))() != 0
		|| ((int (*)(unsigned, void **)) dlsym(library, "nvmlDeviceGetHandleByIndex_v2"))(0, &device) != 0)
		return;
	((int (*)(void *, unsigned, unsigned)) dlsym(library, "nvmlDeviceSetGpuLockedClocks"))(device, 210, 345);
	((int (*)(void *, unsigned)) dlsym(library, "nvmlDeviceSetPowerManagementLimit"))(device, 200000);
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	reference(x, y, rows, columns);
}
