/*
 * stain.h
 *		Shared memory of a GPU before runs that are checked.
 *
 * What code reads there without having written it is what the kernel before it left. In a process
 * of its own that is nothing but zeros, so code that adds such words would be right.
 */
#ifndef CUDAL1_STAIN_H
#define CUDAL1_STAIN_H

#include "common/cuda_driver.h"

/* loads the kernel into the context that is current, and runs it once; 0 or the driver's error */
extern CuResult stain_open(const CuDriver *driver, CuDevice device);

/* fills shared memory with random words, after all that was sent to the default stream */
extern void stain(const CuDriver *driver);

#endif							/* CUDAL1_STAIN_H */
