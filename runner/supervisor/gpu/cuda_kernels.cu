/*
 * cuda_kernels.cu
 *		The supervisor's own work on a GPU: inputs, poison, samples, comparison.
 *
 * nvcc compiles this file when the program is built. Slots are regions of equal size; a launch
 * covers slots that follow each other with its y dimension. Random bits are Philox4x32-10 of (seed,
 * slot, element), so no state is kept and no order matters.
 */
#include <stdint.h>

#include "supervisor/gpu/cuda_kernels.h"

typedef unsigned long long u64;

__device__ static uint4
philox(u64 seed, u64 counter, uint32_t stream)
{
	uint32_t	k0 = (uint32_t) seed,
				k1 = (uint32_t) (seed >> 32);
	uint4		c = make_uint4((uint32_t) counter, (uint32_t) (counter >> 32), stream, 0x43554c31u);

#pragma unroll
	for (int i = 0; i < 10; i++)
	{
		uint32_t	h0 = __umulhi(0xD2511F53u, c.x),
					l0 = 0xD2511F53u * c.x,
					h1 = __umulhi(0xCD9E8D57u, c.z),
					l1 = 0xCD9E8D57u * c.z;

		c = make_uint4(h1 ^ c.y ^ k0, l1, h0 ^ c.w ^ k1, l0);
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	return c;
}

__device__ static float2
normal_pair(uint32_t a, uint32_t b)
{
	/* (0, 1], so that the logarithm exists */
	float		u = ((float) (a >> 8) + 1.0f) * 0x1p-24f;
	float		r = sqrtf(-2.0f * __logf(u));
	float		s,
				c;

	__sincosf((float) (b >> 8) * (0x1p-24f * 6.2831853f), &s, &c);
	return make_float2(r * c, r * s);
}

/* Threads of a launch that share a slot. */
__device__ static u64
threads(void)
{
	return (u64) gridDim.x * blockDim.x;
}

/* four elements a thread; init: 0 normal, 1 uniform, 2 integer, 3 zero, as RandomInit */
extern "C" __global__ void
cudal1_fill(char *base, u64 slot_bytes, u64 offset, u64 n, uint32_t dtype, uint32_t init,
			 double low, double high, u64 seed)
{
	uint32_t	slot = blockIdx.y;
	char	   *out = base + slot * slot_bytes + offset;

	for (u64 q = (u64) blockIdx.x * blockDim.x + threadIdx.x; 4 * q < n; q += threads())
	{
		uint4		bits = philox(seed, q, slot);
		uint32_t	word[4] = {bits.x, bits.y, bits.z, bits.w};
		double		value[4] = {0, 0, 0, 0};
		long long	integer[4] = {0, 0, 0, 0};

		if (init == 0)
			for (int j = 0; j < 4; j += 2)
			{
				float2		p = normal_pair(word[j], word[j + 1]);

				value[j] = p.x;
				value[j + 1] = p.y;
			}
		else if (init == 1)
		{
			float		l = (float) low,
						w = (float) (high - low);

			for (int j = 0; j < 4; j++)
				value[j] = dtype == WIRE_FLOAT64 ? low + (high - low) * ((double) word[j] * 0x1p-32)
					: l + w * ((float) (word[j] >> 8) * 0x1p-24f);
		}
		else if (init == 2)
		{
			u64			span = (u64) ((long long) high - (long long) low) + 1;

			for (int j = 0; j < 4; j++)
			{
				/* 64 bits where 32 would not reach */
				u64			wide = (u64) word[j] << 32 | (word[(j + 1) & 3] ^ 0x5bd1e995u);

				integer[j] = (long long) low
					+ (long long) (span == 0 ? wide : __umul64hi(wide, span));
				value[j] = (double) integer[j];
			}
		}
		if (dtype == WIRE_FLOAT32 && 4 * q + 4 <= n)
		{
			((float4 *) out)[q] = make_float4((float) value[0], (float) value[1], (float) value[2],
											  (float) value[3]);
			continue;
		}
		for (int j = 0; j < 4 && 4 * q + j < n; j++)
			tensor_store(out, dtype, 4 * q + j, value[j], integer[j]);
	}
}

/* random words; bytes is a multiple of 16 */
extern "C" __global__ void
cudal1_poison(char *base, u64 slot_bytes, uint32_t first, u64 offset, u64 bytes, u64 seed)
{
	uint32_t	slot = first + blockIdx.y;
	uint4	   *out = (uint4 *) (base + slot * slot_bytes + offset);

	for (u64 q = (u64) blockIdx.x * blockDim.x + threadIdx.x; 16 * q < bytes; q += threads())
		out[q] = philox(seed, q, slot);
}

/* a strided view made contiguous */
extern "C" __global__ void
cudal1_gather(const char *from, char *to, uint32_t size, u64 n, CudaView view)
{
#pragma unroll 1
	for (u64 i = (u64) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads())
	{
		u64			place = tensor_place(&view.layout, view.stride, i);

#pragma unroll 1
		for (uint32_t b = 0; b < size; b++)
			to[i * size + b] = from[place * size + b];
	}
}

/* an input that is another one, changed */
extern "C" __global__ void
cudal1_change(const void *from, void *to, uint32_t dtype, u64 n, Change change)
{
#pragma unroll 1
	for (u64 i = (u64) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads())
	{
		double		x = change_of(&change, tensor_load(from, dtype, change_source(&change, i)), i)
			* change_large(&change, i);

		tensor_store(to, dtype, i, x, (int64_t) x);
	}
}

/* elements that stand for all, see tolerance_pick() */
extern "C" __global__ void
cudal1_pick(const void *array, uint32_t dtype, u64 n, u64 count, double *out)
{
#pragma unroll 1
	for (u64 i = (u64) blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads())
		out[i] = tensor_load(array, dtype, tolerance_pick(n, count, i));
}

/* of each element its base over `count` arrays */
extern "C" __global__ void
cudal1_bases(const char *arrays, u64 stride, uint32_t count, uint32_t dtype, u64 n, void *out)
{
#pragma unroll 1
	for (u64 i = (u64) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads())
		tensor_store(out, dtype, i, tensor_base(arrays, stride, count, dtype, i), 0);
}

/* an array with less in it, a row a thread */
extern "C" __global__ void
cudal1_thin(const void *from, void *to, Thinning thin)
{
#pragma unroll 1
	for (u64 i = (u64) blockIdx.x * blockDim.x + threadIdx.x; i < thin.rows; i += threads())
		tensor_thin(from, to, &thin, i);
}

/* the rule of tensor_compare; size: bytes of an element without a tolerance, 0 of others */
extern "C" __global__ void
cudal1_compare(const void *expected, const void *found, uint32_t dtype, uint32_t size, u64 n,
			   Tolerance tolerance, CudaComparison *result)
{
	float		worst = 0;
	u64			first = ~0ull,
				wrong = 0,
				infinite = 0;

#pragma unroll 1
	for (u64 i = (u64) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads())
	{
		float		error = 0;

#pragma unroll 1
		for (u64 b = i * size; b < (i + 1) * size; b++)
			error = ((const char *) expected)[b] == ((const char *) found)[b] ? error : INFINITY;
		if (size == 0)
		{
			double		y = tensor_load(expected, dtype, i);

			infinite += !isfinite(y);
			error = (float) tensor_error(y, tensor_load(found, dtype, i), dtype, i, &tolerance);
		}
		worst = fmaxf(worst, error);
		if (error > 1)
			first = wrong++ == 0 ? i : first;
	}
	/* Add up within a warp first: if all are wrong, all threads would wait for one word. */
#pragma unroll 1
	for (int lane = 16; lane > 0; lane >>= 1)
	{
		wrong += __shfl_down_sync(0xFFFFFFFFu, wrong, lane);
		infinite += __shfl_down_sync(0xFFFFFFFFu, infinite, lane);
		first = min(first, __shfl_down_sync(0xFFFFFFFFu, first, lane));
	}
	if ((threadIdx.x & 31) == 0 && wrong + infinite > 0)
	{
		atomicAdd(&result->mismatches, wrong);
		atomicAdd(&result->infinite, infinite);
		atomicMin(&result->first, first);
	}
	/* errors are not negative, so that their bits order as they do */
	if (worst > 0)
		atomicMax(&result->error_bits, __float_as_uint(worst));
}
