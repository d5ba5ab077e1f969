/*
 * exec_c.c
 *		exec-c FILE.so: the executor of C code, for references and candidates alike.
 *
 * It maps the shared slots, loads the code behind the guard, and calls the entry as it is told,
 * each time with the pointers of a slot. It knows neither the time nor what the outputs should be,
 * and is stopped while it is not its turn. Nothing in it is trusted once the code is loaded.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/clock.h"
#include "executor/guard.h"

/* libraries, stacks, what the executor itself has mapped */
#define SPARE_BYTES ((uint64_t) 1 << 30)

static char *heap;				/* the heap that the code begins with */

/* Gives threads that still work time to end. */
static void
wait_a_moment(void)
{
	clock_sleep(0.02);
}

static uint32_t
load(const char *path, uint32_t flags)
{
	const WireCall *call = entry_call;
	void	   *handle;

	entry_inputs = entry_map(WIRE_FD_INPUTS, PROT_READ);
	entry_outputs = entry_map(WIRE_FD_OUTPUTS, PROT_READ | PROT_WRITE);
	close(WIRE_FD_INPUTS);
	close(WIRE_FD_OUTPUTS);
	/* cppcheck-suppress leakReturnValNotUsed ; pthread_exit() asks for it when files are closed */
	dlopen("libgcc_s.so.1", RTLD_NOW);
	/* A further arena would open files for its bookkeeping. */
	mallopt(M_ARENA_MAX, 1);
	/* freed memory stays mapped, so that a run does not pay for its predecessor's page faults */
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, -1);
	mallopt(M_TOP_PAD, 1 << 20);
	if (cudal1_guard_memory(call->data_limit, call->data_limit + SPARE_BYTES + call->slots
							* (call->input_slot_bytes + call->output_slot_bytes)) != 0
		|| cudal1_guard_enter(false, GUARD_THREADS) != 0)
		entry_fail("guard");
	heap = sbrk(0);
	handle = entry_load(path);
	if (!handle)
		return WIRE_FAILED;
	entry_walk(handle);
	if (cudal1_guard_seal() != 0)
		entry_fail("guard");
	return WIRE_OK;
}

static uint32_t
run(uint32_t flags, uint32_t slot)
{
	/* The heap grows, and is never made smaller. */
	cudal1_gate_walk(heap, sbrk(0));
	entry_run(flags, slot, flags & WIRE_FLAG_WAITED ? wait_a_moment : NULL);
	return WIRE_OK;
}

int
main(int argc, char **argv)
{
	entry_main(argc, argv, load, run);
}
