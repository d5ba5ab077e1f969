/*
 * stain.c
 *		Launches the kernel that fills shared memory.
 */
#include <sys/random.h>

#include "executor/stain.h"

#ifdef CUDAL1_STAIN
/* machine code for each kind of GPU */
__asm__(".section .rodata\n.balign 8\n.global stain_kernel\nstain_kernel:\n"
		".incbin \"" CUDAL1_STAIN "\"\n.previous\n");
extern const char stain_kernel[] __attribute__((visibility("hidden")));
#else
static const char stain_kernel[] = "";
#endif

static CuFunctionRef kernel;
static int	blocks;
static int	bytes;				/* of a block */

void
stain(const CuDriver *driver)
{
	uint32_t	words = bytes / sizeof(uint32_t);
	uint32_t	seed = 1;
	void	   *parameters[] = {&words, &seed};

	if (!kernel)
		return;
	(void) !getrandom(&seed, sizeof(seed), 0);
	driver->LaunchKernel(kernel, blocks, 1, 1, 1024, 1, 1, bytes, NULL, parameters, NULL);
}

CuResult
stain_open(const CuDriver *driver, CuDevice device)
{
	CuModuleRef module;
	CuResult	error;

	if (!stain_kernel[0])
		return 0;
	error = driver->DeviceGetAttribute(&blocks, CU_ATTRIBUTE_MULTIPROCESSORS, device);
	if (error == 0)
		error = driver->DeviceGetAttribute(&bytes, CU_ATTRIBUTE_SHARED_BYTES, device);
	if (error == 0)
		error = driver->ModuleLoadData(&module, stain_kernel);
	if (error == 0)
		error = driver->ModuleGetFunction(&kernel, module, "cudal1_stain");
	if (error == 0)
		error = driver->FuncSetAttribute(kernel, CU_FUNCTION_SHARED_BYTES, bytes);
	if (error == 0)
		stain(driver);
	return error == 0 ? driver->CtxSynchronize() : error;
}
