/*
 * pace.h
 *		How quick cores are.
 */
#ifndef CUDAL1_PACE_H
#define CUDAL1_PACE_H

#include <sched.h>
#include <stdint.h>

/*
 * Seconds of a lap: so many steps of arithmetic, some 4 ns each, which use neither memory nor wide
 * registers. `state`: the caller's, so that a compiler leaves nothing out
 */
extern double pace_lap(uint64_t *state, int steps);

/*
 * `now`, or another of `cores` on which arithmetic takes a twentieth less. The caller's thread is
 * on each of them for a millisecond.
 */
extern int	pace_quickest(const cpu_set_t *cores, int now);

#endif							/* CUDAL1_PACE_H */
