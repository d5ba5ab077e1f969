/*
 * weak.h
 *		Whether code that does no work would be right.
 */
#ifndef CUDAL1_WEAK_H
#define CUDAL1_WEAK_H

#include "supervisor/checks/first.h"

/*
 * Notes as evidence "weak" what passes the checks and does none of the task's work, if anything
 * does; false after conclude()
 */
extern bool weak_note(Checks *c);

#endif							/* CUDAL1_WEAK_H */
