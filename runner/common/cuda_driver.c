/*
 * cuda_driver.c
 *		Finds the CUDA driver at run time; for the supervisor, exec-cuda and the memory pool of
 *		PyTorch executors alike.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "common/cuda_driver.h"

void *
cuda_driver_library(const char *name)
{
	/* A login that clears the environment loses the run path that containers set. */
	static const char *const folders[] = {"", "/usr/local/nvidia/lib64/", "/usr/local/nvidia/lib/",
		"/usr/lib/x86_64-linux-gnu/", "/usr/lib64/", "/run/opengl-driver/lib/",
	"/usr/lib/wsl/lib/"};
	void	   *library = NULL;
	char		path[256];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !library; i++)
	{
		snprintf(path, sizeof(path), "%s%s", folders[i], name);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return library;
}

bool
cuda_driver_load(CuDriver *driver, const char **problem)
{
	void	   *library = cuda_driver_library("libcuda.so.1");
	Dl_info		where;

	memset(driver, 0, sizeof(*driver));
	if (!library)
	{
		*problem = "no NVIDIA driver";
		return false;
	}
/* clang-format off */
#define CU_RESOLVE(name, suffix, parameters) \
	driver->name = (CuResult (*) parameters) dlsym(library, "cu" #name suffix); \
	if (!driver->name) \
	{ \
		*problem = "the NVIDIA driver is too old: it lacks cu" #name suffix; \
		return false; \
	}
	CU_FUNCTIONS(CU_RESOLVE)
#undef CU_RESOLVE
/* clang-format on */
	if (dladdr((void *) driver->Init, &where) && where.dli_fname && strchr(where.dli_fname, '/'))
	{
		snprintf(driver->folder, sizeof(driver->folder), "%s", where.dli_fname);
		*strrchr(driver->folder, '/') = '\0';
	}
	return true;
}

CuResult
cuda_driver_open(const CuDriver *driver, CuDevice *device)
{
	CuContextRef context;

	CU_TRY(driver->Init(0));
	CU_TRY(driver->DeviceGet(device, 0));
	CU_TRY(driver->DevicePrimaryCtxSetFlags(*device, CU_SCHEDULE_SPIN));
	CU_TRY(driver->DevicePrimaryCtxRetain(&context, *device));
	return driver->CtxSetCurrent(context);
}

void
cuda_driver_error(const CuDriver *driver, CuResult error, char *text, size_t size)
{
	const char *name = NULL;
	const char *words = NULL;

	driver->GetErrorName(error, &name);
	driver->GetErrorString(error, &words);
	snprintf(text, size, "%s (%s)", words ? words : "unknown error", name ? name : "?");
}

bool
cuda_driver_is_fault(CuResult error)
{
	/* CUDA_ERROR_ILLEGAL_ADDRESS 700, ASSERT 710, HARDWARE_STACK_ERROR 714 to LAUNCH_FAILED 719 */
	return error == 700 || error == 702 || error == 710 || (error >= 714 && error <= 719);
}

CuResult
cuda_driver_map(const CuDriver *driver, CuDevice device, CuHandle handle, size_t bytes,
				CuAddress *address)
{
	CuAccess	access = {.location = {1, device},.flags = 3};

	CU_TRY(driver->MemAddressReserve(address, bytes, 0, 0, 0));
	CU_TRY(driver->MemMap(*address, bytes, 0, handle, 0));
	return driver->MemSetAccess(*address, bytes, &access, 1);
}

CuResult
cuda_driver_import(const CuDriver *driver, CuDevice device, int fd, size_t bytes,
				   CuAddress *address)
{
	CuHandle	handle;
	CuResult	error;

	*address = 0;
	CU_TRY(driver->MemImportFromShareableHandle(&handle, (void *) (intptr_t) fd, 1));
	error = cuda_driver_map(driver, device, handle, bytes, address);
	/* the mapping holds the memory */
	driver->MemRelease(handle);
	return error;
}
