/*
 * pace.h
 *		Which of several cores is quickest now.
 */
#ifndef CUDAL1_PACE_H
#define CUDAL1_PACE_H

#include <sched.h>

/*
 * `now`, or another of `cores` on which arithmetic takes a twentieth less. The caller's thread is
 * on each of them for half a millisecond.
 */
extern int	pace_quickest(const cpu_set_t *cores, int now);

#endif							/* CUDAL1_PACE_H */
