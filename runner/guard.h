/*
 * guard.h
 *		The filters and limits an executor puts on itself before it loads a candidate.
 */
#ifndef CUDAL1_GUARD_H
#define CUDAL1_GUARD_H

#include <stdint.h>

/* reads both filters from WIRE_FD_FILTER and closes it; 0 or -1 */
extern int	cudal1_guard_read(void);

/* limits on memory, threads, descriptors, and the filter that holds while a candidate is loaded; 0 or -1 */
extern int	cudal1_guard_enter(uint64_t data_bytes);

/*
 * Limits what the process may map beyond what it has, counting what RLIMIT_DATA does not: shared mappings of /dev/zero, stacks.
 * Before cudal1_guard_enter; not for code that reserves address space by the terabyte, as CUDA's driver does. 0 or -1.
 */
extern int	cudal1_guard_space(uint64_t bytes);

/* the same where the CUDA driver is at work, which needs more descriptors */
extern int	cudal1_guard_enter_gpu(uint64_t data_bytes);

/* the further filter that holds while it runs; 0 or -1 */
extern int	cudal1_guard_seal(void);

/* fills for the generator of PyTorch inputs */
extern void cudal1_guard_fill_normal(float *out, uint64_t n, uint64_t seed);
extern void cudal1_guard_fill_uniform(float *out, uint64_t n, uint64_t seed);

#endif							/* CUDAL1_GUARD_H */
