/*
 * light.h
 *		What no code can exceed on a core: bytes of memory, and operations.
 */
#ifndef CUDAL1_LIGHT_H
#define CUDAL1_LIGHT_H

/* bytes a second that a core reads or writes, and float32 operations a second; takes 0.1 s */
extern void light_of_core(double *bandwidth, double *peak);

#endif							/* CUDAL1_LIGHT_H */
