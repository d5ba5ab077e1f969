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

	if (!stain_kernel[0])
		return 0;
	CU_TRY(driver->DeviceGetAttribute(&blocks, CU_ATTRIBUTE_MULTIPROCESSORS, device));
	CU_TRY(driver->DeviceGetAttribute(&bytes, CU_ATTRIBUTE_SHARED_BYTES, device));
	CU_TRY(driver->ModuleLoadData(&module, stain_kernel));
	CU_TRY(driver->ModuleGetFunction(&kernel, module, "cudal1_stain"));
	CU_TRY(driver->FuncSetAttribute(kernel, CU_FUNCTION_SHARED_BYTES, bytes));
	stain(driver);
	return driver->CtxSynchronize();
}
