/*
 * torch_pool.c
 *		libcudal1pool.so: the memory that PyTorch's own allocator takes from the GPU, out of one
 *		region that the supervisor can map.
 *
 * Preloaded before PyTorch's CUDA runtime, it answers cudaMalloc and cudaFree. PyTorch's caching
 * allocator asks these for segments of some MiB and keeps doing all the rest, private pools of CUDA
 * graphs included (a pluggable allocator would replace that). So honest code runs as it always
 * does, and the supervisor can read every tensor without the executor's help. In the process that
 * makes inputs there is no region, and memory comes from the driver.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/cuda_driver.h"
#include "common/wire.h"
#include "executor/stain.h"

#define SUCCESS			0
#define OUT_OF_MEMORY	2
#define PAGE			((uint64_t) 2 << 20)	/* PyTorch asks for whole ones */

static CuDriver driver;
static bool loaded;
static CuDevice device;
static CuAddress base;
static CuAddress mapped;	/* memory that the supervisor handed over */
static uint64_t mapped_bytes;
static uint32_t *taken;			/* pages that are given out together, of the first of them */
static uint64_t pages;
static uint64_t used;			/* of them, given out */
/* takes the most so far; NULL: the supervisor does not ask */
static uint64_t *told;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * The page of the region's first sixteenth at which memory is given out. Kernels are up to 1 %
 * faster or slower by where their arrays lie, which must not favour the same side in all processes.
 */
static uint32_t
random_start(void)
{
	uint32_t	word = 0;

	(void) !getrandom(&word, sizeof(word), 0);
	return word % (pages / WIRE_POOL_STARTS + 1);
}

/*
 * opens the device and maps what was handed over; either descriptor may be -1; 0 or the driver's
 * error. `tell`: takes the most bytes of the pool that are given out at once
 */
int
cudal1_pool_open(int memory_fd, uint64_t memory_bytes, int pool_fd, uint64_t pool_bytes,
				 uint64_t *tell, uint64_t *memory, uint64_t *pool)
{
	const char *problem;

	told = tell;
	*memory = *pool = 0;
	if (!cuda_driver_load(&driver, &problem))
		return 999;
	CU_TRY(cuda_driver_open(&driver, &device));
	if (memory_fd >= 0)
		CU_TRY(cuda_driver_import(&driver, device, memory_fd, memory_bytes, memory));
	mapped = *memory;
	mapped_bytes = memory_bytes;
	if (pool_fd >= 0)
	{
		CU_TRY(cuda_driver_import(&driver, device, pool_fd, pool_bytes, &base));
		pages = pool_bytes / PAGE;
		taken = calloc(pages + 1, sizeof(*taken));
		if (!taken)
			return OUT_OF_MEMORY;
		taken[0] = random_start();
		*pool = base;
		CU_TRY(stain_open(&driver, device));
	}
	loaded = true;
	return SUCCESS;
}

/* before a run that is checked */
void
cudal1_pool_stain(void)
{
	stain(&driver);
}

/* maps other memory instead of what was handed over before */
int
cudal1_pool_change(int memory_fd, uint64_t memory_bytes, uint64_t *memory)
{
	*memory = 0;
	CU_TRY(driver.CtxSynchronize());
	if (mapped)
	{
		CU_TRY(driver.MemUnmap(mapped, mapped_bytes));
		CU_TRY(driver.MemAddressFree(mapped, mapped_bytes));
	}
	CU_TRY(cuda_driver_import(&driver, device, memory_fd, memory_bytes, memory));
	mapped = *memory;
	mapped_bytes = memory_bytes;
	return SUCCESS;
}

/* first fit: there are few segments, and PyTorch keeps them */
int
cudaMalloc(void **address, size_t bytes)
{
	uint64_t	wanted = bytes / PAGE + (bytes % PAGE > 0);
	uint64_t	room = 0;		/* pages before `at` that are not taken */
	uint64_t	at = 0;

	*address = NULL;
	if (bytes == 0)
		return SUCCESS;
	if (!loaded)
		return OUT_OF_MEMORY;
	if (!base)
	{
		CuAddress	memory;
		CuResult	error = driver.MemAlloc(&memory, bytes);

		*address = error == 0 ? (void *) (uintptr_t) memory : NULL;
		return error == 0 ? SUCCESS : OUT_OF_MEMORY;
	}
	pthread_mutex_lock(&lock);
	while (at < pages && room < wanted)
	{
		room = taken[at] > 0 ? 0 : room + 1;
		at += taken[at] > 0 ? taken[at] : 1;
	}
	if (room == wanted)
	{
		at -= wanted;
		taken[at] = wanted;
		used += wanted;
		if (told && used * PAGE > *told)
			*told = used * PAGE;
		*address = (void *) (uintptr_t) (base + at * PAGE);
	}
	pthread_mutex_unlock(&lock);
	return *address ? SUCCESS : OUT_OF_MEMORY;
}

int
cudaFree(void *address)
{
	uint64_t	at = ((uint64_t) (uintptr_t) address - base) / PAGE;
	bool		given;

	if (!address || !loaded)
		return SUCCESS;
	if (!base)
		return driver.MemFree((CuAddress) (uintptr_t) address) == 0 ? SUCCESS : 1;
	/* callers rely on it to wait for kernels that still use the memory */
	driver.CtxSynchronize();
	pthread_mutex_lock(&lock);
	given = at < pages && taken[at] > 0;
	if (given)
	{
		used -= taken[at];
		taken[at] = 0;
	}
	pthread_mutex_unlock(&lock);
	return given ? SUCCESS : 1;	/* cudaErrorInvalidValue */
}
