/*
 * stain.cu
 *		Random words in all of a GPU's shared memory, as another kernel could have left there.
 *
 * Each multiprocessor has one block, which takes all that a block may have.
 */
#include <stdint.h>

extern "C" __global__ void
cudal1_stain(uint32_t words, uint32_t seed)
{
	extern __shared__ volatile uint32_t word[];

	for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
	{
		uint32_t	mixed = (i + blockIdx.x * words) * 0x9E3779B9u ^ seed;

		mixed = (mixed ^ mixed >> 16) * 0x85EBCA6Bu;
		word[i] = mixed ^ mixed >> 13;
	}
}
