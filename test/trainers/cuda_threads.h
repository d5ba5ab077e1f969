/*
 * Runs kernels of CUDA C++ on a processor, as far as examples/train/cuda_tasks.py needs it.
 *
 * The threads of a block take turns: each runs to its next barrier, or to the next exchange with
 * its warp. Shared memory holds NaN when a block begins. Threads and blocks come in order or,
 * where backwards is set, the other way round, so a missing barrier shows in one of the two.
 */
#include <csetjmp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sys/mman.h>
#include <ucontext.h>

struct dim3
{
	unsigned x, y, z;
	dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };

#define __global__ static
#define __device__ static
#define SHARED_OF(variant) static __attribute__((section("shared_" #variant)))

static dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace threads
{
enum { MOST = 1024, STACK = 65536 };
enum state { READY, AT_BARRIER, AT_EXCHANGE, ENDED };

static struct
{
	jmp_buf at;
	ucontext_t start;
	bool started;
	state now;
	dim3 index;
	float given;
} all[MOST];
static jmp_buf scheduler;
static unsigned current, count;
static const std::function<void()> *body;
static char *shared, *shared_end;
static bool backwards;

static __attribute__((noinline)) void pause(state now)
{
	all[current].now = now;
	if (_setjmp(all[current].at) == 0)
		_longjmp(scheduler, 1);
}

static void live()
{
	for (;;)
	{
		(*body)();
		all[current].given = NAN;
		pause(ENDED);
	}
}

static __attribute__((noinline)) void resume(unsigned t)
{
	current = t;
	threadIdx = all[t].index;
	if (_setjmp(scheduler) != 0)
		return;
	if (all[t].started)
		_longjmp(all[t].at, 1);
	all[t].started = true;
	getcontext(&all[t].start);
	all[t].start.uc_stack.ss_sp = malloc(STACK);
	all[t].start.uc_stack.ss_size = STACK;
	makecontext(&all[t].start, live, 0);
	setcontext(&all[t].start);
}

/* lets threads from first to last go on where all of them that have not ended are there */
static bool release(unsigned first, unsigned last, state there)
{
	bool some = false;

	for (unsigned t = first; t < last; t++)
		if (all[t].now != there && all[t].now != ENDED)
			return false;
	for (unsigned t = first; t < last; t++)
		if (all[t].now == there)
			all[t].now = READY, some = true;
	return some;
}

static dim3 place(unsigned n, dim3 of)
{
	return dim3(n % of.x, n / of.x % of.y, n / of.x / of.y);
}

static void run_block()
{
	bool moved = true;

	if (shared)
		memset(shared, 0xff, shared_end - shared);
	for (unsigned t = 0; t < count; t++)
	{
		all[t].now = READY;
		all[t].index = place(t, blockDim);
	}
	while (moved)
	{
		moved = false;
		for (unsigned k = 0; k < count; k++)
		{
			unsigned t = backwards ? count - 1 - k : k;

			if (all[t].now == READY)
				resume(t), moved = true;
		}
		for (unsigned w = 0; w < count; w += 32)
			moved |= release(w, w + 32 < count ? w + 32 : count, AT_EXCHANGE);
		moved |= release(0, count, AT_BARRIER);
	}
	for (unsigned t = 0; t < count; t++)
		if (all[t].now != ENDED)
			abort();			/* threads wait for others that don't come */
}

static void launch(dim3 grid, dim3 block, const std::function<void()> &kernel)
{
	unsigned blocks = grid.x * grid.y * grid.z;

	count = block.x * block.y * block.z;
	if (count > MOST || blocks == 0)
		return;					/* an error that nobody asks for */
	gridDim = grid;
	blockDim = block;
	body = &kernel;
	for (unsigned k = 0; k < blocks; k++)
	{
		unsigned b = backwards ? blocks - 1 - k : k;

		blockIdx = place(b, grid);
		run_block();
	}
}

/* what the thread at another place of the warp gives */
static float exchange(float given, unsigned from)
{
	float got;

	all[current].given = given;
	pause(AT_EXCHANGE);
	got = from < count ? all[from].given : NAN;
	pause(AT_EXCHANGE);
	return got;
}
}

static inline void __syncthreads() { threads::pause(threads::AT_BARRIER); }
static inline float __shfl_xor_sync(unsigned, float s, int mask, int = 32)
{
	return threads::exchange(s, threads::current ^ mask);
}
static inline float __shfl_down_sync(unsigned, float s, int below, int width = 32)
{
	unsigned t = threads::current;

	return threads::exchange(s, t % width + below < (unsigned) width ? t + below : t);
}
static inline void atomicAdd(float *to, float s) { *to += s; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline void cudaMemsetAsync(void *to, int value, size_t n) { memset(to, value, n); }

/* memory before and behind which none can be read */
extern "C" void *guarded(size_t size)
{
	size_t whole = (size + 4095) / 4096 * 4096;
	char *at = (char *) mmap(NULL, whole + 8192, PROT_READ | PROT_WRITE,
							 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(at, 4096, PROT_NONE);
	mprotect(at + 4096 + whole, 4096, PROT_NONE);
	return at + 4096 + (whole - size) / 16 * 16;
}
