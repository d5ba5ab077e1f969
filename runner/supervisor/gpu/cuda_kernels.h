/*
 * cuda_kernels.h
 *		What the supervisor hands its kernels, the same on both sides.
 */
#ifndef CUDAL1_CUDA_KERNELS_H
#define CUDAL1_CUDA_KERNELS_H

#include <stdint.h>

#include "common/tensor.h"

typedef struct CudaView
{
	Tensor		layout;
	int64_t		stride[WIRE_MAX_DIMS];	/* in elements */
} CudaView;

typedef struct CudaComparison
{
	unsigned long long mismatches;
	unsigned long long infinite;	/* as in Comparison */
	unsigned long long first;	/* index of the first mismatch; all ones before */
	uint32_t	error_bits;		/* of the largest deviation, a float, in tolerances */
} CudaComparison;

#endif							/* CUDAL1_CUDA_KERNELS_H */
