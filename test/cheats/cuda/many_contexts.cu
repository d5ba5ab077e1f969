/* kind: 9 hogged memory; task: gpu_rowsum; outcome: successful, unstable, wrong_output, cheat
 * Opens contexts of its own, whose turns the GPU would take beside the reference's. */
#include <cuda.h>
#include <dlfcn.h>
#include "reference.cu"

__attribute__((constructor)) static void open_contexts(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
	auto create = driver ? (CUresult (*)(CUcontext *, unsigned, CUdevice)) dlsym(driver, "cuCtxCreate_v2") : NULL;
	auto set = driver ? (CUresult (*)(CUcontext)) dlsym(driver, "cuCtxSetCurrent") : NULL;
	auto get = driver ? (CUresult (*)(CUcontext *)) dlsym(driver, "cuCtxGetCurrent") : NULL;
	CUcontext own = NULL, other;

	if (!create || !set || !get)
		return;
	get(&own);
	for (int i = 0; i < 3; i++)
		create(&other, 0, 0);
	set(own);
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	reference(x, y, rows, columns);
}
