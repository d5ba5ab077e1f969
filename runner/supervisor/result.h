/*
 * result.h
 *		The result of one candidate, as a line of JSON.
 */
#ifndef CUDAL1_RESULT_H
#define CUDAL1_RESULT_H

#include "supervisor/types.h"

/* to standard output */
extern void result_print(const Measure *m, Member *member);

#endif							/* CUDAL1_RESULT_H */
