/*
 * exec_cuda.c
 *		exec-cuda FILE.so: the executor of CUDA C++ code, for references and candidates alike.
 *
 * As exec-c, but the slots lie in GPU memory that the supervisor allocated: it imports them by
 * descriptor and hands out device pointers. Nothing touches the GPU before the command to load. A
 * run of a window ends with a synchronisation of the whole device; whether it took place is not
 * asked here but seen in the outputs. The code's CUDA runtime is linked into its own library and
 * finds the context that is made here, the device's primary one.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/cuda_driver.h"
#include "executor/guard.h"
#include "executor/stain.h"

static CuDriver driver;
static const char *(*last_error) (void);

static uint32_t
failed(const char *doing, CuResult error)
{
	char		text[300];

	cuda_driver_error(&driver, error, text, sizeof(text));
	snprintf(entry_control->text, sizeof(entry_control->text), "%s%s", doing, text);
	return cuda_driver_is_fault(error) ? WIRE_FAULTED : WIRE_FAILED;
}

static CuResult
open_device(void)
{
	const WireCall *call = entry_call;
	CuDevice	device;
	CuAddress	inputs;
	CuAddress	outputs;
	CuAddress	scratch;

	CU_TRY(cuda_driver_open(&driver, &device));
	CU_TRY(cuda_driver_import(&driver, device, WIRE_FD_INPUTS,
							  wire_gpu_bytes(call->slots * call->input_slot_bytes), &inputs));
	CU_TRY(cuda_driver_import(&driver, device, WIRE_FD_OUTPUTS,
							  wire_gpu_bytes(call->slots * call->output_slot_bytes), &outputs));
	entry_inputs = (char *) (uintptr_t) inputs;
	entry_outputs = (char *) (uintptr_t) outputs;
	/* a first launch, so that the driver has opened what it needs before the guard */
	CU_TRY(driver.MemAlloc(&scratch, 1));
	CU_TRY(driver.MemsetD8(scratch, 0, 1));
	return stain_open(&driver, device);
}

static uint32_t
load(const char *path, uint32_t flags)
{
	const char *problem = NULL;
	CuResult	error;
	void	   *handle;

	/* By its files in /proc it could make itself the last to go when memory is short. */
	if (getpid() == 1)
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (!cuda_driver_load(&driver, &problem))
	{
		snprintf(entry_control->text, sizeof(entry_control->text), "%s", problem);
		return WIRE_FAILED;
	}
	if (flags & WIRE_FLAG_WAITED)
		setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	error = open_device();
	if (error != 0)
		return failed("the GPU can't be opened: ", error);
	close(WIRE_FD_INPUTS);
	close(WIRE_FD_OUTPUTS);
	if (cudal1_guard_memory(entry_call->data_limit, 0) != 0
		|| cudal1_guard_enter(true, GUARD_THREADS) != 0)
		entry_fail("guard");
	handle = entry_load(path);
	if (!handle)
		return WIRE_FAILED;
	last_error = (const char *(*) (void)) dlsym(handle, "cudal1_last_error");
	return WIRE_OK;
}

/* An error stays, and is found when all runs are over. */
static void
end_run(void)
{
	driver.CtxSynchronize();
}

static uint32_t
run(uint32_t flags, uint32_t slot)
{
	CuResult	error;
	const char *text;

	if (!(flags & WIRE_FLAG_GATED))
		stain(&driver);
	entry_run(flags, slot, flags & (WIRE_FLAG_GATED | WIRE_FLAG_WAITED) ? end_run : NULL);
	error = driver.CtxSynchronize();
	if (error != 0)
		return failed("", error);
	text = last_error ? last_error() : NULL;
	if (text)
	{
		snprintf(entry_control->text, sizeof(entry_control->text),
				 "the CUDA runtime reports: %s", text);
		return WIRE_FAILED;
	}
	return WIRE_OK;
}

int
main(int argc, char **argv)
{
	entry_main(argc, argv, load, run);
}
