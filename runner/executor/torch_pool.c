/*
 * torch_pool.c
 *		libcudal1pool.so: the memory that PyTorch's own allocator takes from the GPU, out of one
 *		region that the supervisor can map.
 *
 * Preloaded before PyTorch's CUDA runtime, it answers cudaMalloc and cudaFree. PyTorch's caching
 * allocator asks these for segments of some MiB and keeps doing all the rest, streams, events and
 * the private pools of CUDA graphs included, so honest code runs as it always does, and every
 * tensor lies where the supervisor can read it without the executor's help. (A pluggable allocator
 * would replace all of that.) Without a region, in the process that makes inputs, memory comes from
 * the driver.
 */
#define _GNU_SOURCE
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
#define PAGE			512		/* PyTorch assumes this alignment of cudaMalloc */
#define LARGE_PAGE		((uint64_t) 2 << 20)

typedef struct Span
{
	uint64_t	at;
	uint64_t	bytes;
	bool		used;
	struct Span *next;			/* by address */
} Span;

static CuDriver driver;
static bool loaded;
static CuDevice device;
static CuAddress base;
static CuAddress mapped;	/* memory that the supervisor handed over */
static uint64_t mapped_bytes;
static Span *spans;
static uint64_t used;			/* bytes given out */
/* takes the most so far; NULL: the supervisor does not ask */
static uint64_t *told;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Draws the large page of the region's first sixteenth at which memory is given out. Kernels are
 * up to 1 % faster or slower by where their arrays lie, which would always favour the same side if
 * it did not differ from process to process.
 */
static uint64_t
random_start(uint64_t bytes)
{
	uint32_t	word = 0;

	if (getrandom(&word, sizeof(word), 0) != sizeof(word))
		return 0;
	return word % (bytes / LARGE_PAGE / WIRE_POOL_STARTS + 1) * LARGE_PAGE;
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
	CuResult	error;

	told = tell;
	*memory = *pool = 0;
	if (!cuda_driver_load(&driver, &problem))
		return 999;
	error = cuda_driver_open(&driver, &device);
	if (error == 0 && memory_fd >= 0)
		error = cuda_driver_import(&driver, device, memory_fd, memory_bytes, memory);
	mapped = *memory;
	mapped_bytes = memory_bytes;
	if (error == 0 && pool_fd >= 0)
	{
		error = cuda_driver_import(&driver, device, pool_fd, pool_bytes, &base);
		spans = calloc(1, sizeof(Span));
		if (!spans)
			return OUT_OF_MEMORY;
		spans->at = random_start(pool_bytes);
		spans->bytes = pool_bytes - spans->at;
		*pool = base;
		if (error == 0)
			error = stain_open(&driver, device);
	}
	loaded = error == 0;
	return error;
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
	CuResult	error = driver.CtxSynchronize();

	*memory = 0;
	if (error == 0 && mapped)
		error = driver.MemUnmap(mapped, mapped_bytes);
	if (error == 0 && mapped)
		error = driver.MemAddressFree(mapped, mapped_bytes);
	mapped = 0;
	if (error == 0)
		error = cuda_driver_import(&driver, device, memory_fd, memory_bytes, memory);
	mapped = *memory;
	mapped_bytes = memory_bytes;
	return error;
}

/* first fit: there are few segments, and PyTorch keeps them */
int
cudaMalloc(void **address, size_t bytes)
{
	Span	   *s;

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
	bytes = (bytes + PAGE - 1) & ~(size_t) (PAGE - 1);
	pthread_mutex_lock(&lock);
	for (s = spans; s && (s->used || s->bytes < bytes); s = s->next)
		;
	if (s && s->bytes > bytes)
	{
		Span	   *rest = calloc(1, sizeof(Span));

		if (rest)
		{
			rest->at = s->at + bytes;
			rest->bytes = s->bytes - bytes;
			rest->next = s->next;
			s->next = rest;
			s->bytes = bytes;
		}
	}
	if (s)
	{
		s->used = true;
		used += s->bytes;
		if (told && used > *told)
			*told = used;
		*address = (void *) (uintptr_t) (base + s->at);
	}
	pthread_mutex_unlock(&lock);
	return s ? SUCCESS : OUT_OF_MEMORY;
}

int
cudaFree(void *address)
{
	uint64_t	at = (uint64_t) (uintptr_t) address - base;
	int			result = 1;		/* cudaErrorInvalidValue */

	if (!address || !loaded)
		return SUCCESS;
	if (!base)
		return driver.MemFree((CuAddress) (uintptr_t) address) == 0 ? SUCCESS : 1;
	/* callers rely on it to wait for kernels that still use the memory */
	driver.CtxSynchronize();
	pthread_mutex_lock(&lock);
	for (Span *s = spans, *before = NULL; s; before = s, s = s->next)
	{
		if (s->at != at || !s->used)
			continue;
		s->used = false;
		used -= s->bytes;
		if (s->next && !s->next->used)
		{
			Span	   *rest = s->next;

			s->bytes += rest->bytes;
			s->next = rest->next;
			free(rest);
		}
		if (before && !before->used)
		{
			before->bytes += s->bytes;
			before->next = s->next;
			free(s);
		}
		result = SUCCESS;
		break;
	}
	pthread_mutex_unlock(&lock);
	return result;
}
