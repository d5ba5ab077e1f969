/*
 * beside.h
 *		Processes that load their code side by side on a GPU (session.c).
 */
#ifndef CUDAL1_BESIDE_H
#define CUDAL1_BESIDE_H

#include "supervisor/types.h"

/* Arguments of measure_launch() for one of the processes. */
typedef struct Start
{
	Executor   *executor;
	Side		side;
	int			seat;
	const Arena *arena;
	uint64_t	weights;
	/* of its first run, where the backend can bring it an input */
	uint32_t	slot;
	uint64_t	seed;
	double		timeout;		/* seconds for its first run */
} Start;

typedef struct Beside
{
	int			n;
	/* makes the i-th current, and says how it begins; false: it is not, or no longer, one */
	bool		(*enter) (void *context, int i, Start *start);
	/* the i-th has failed: whether the others go on */
	bool		(*goes_on) (void *context, int i);
	void	   *context;
} Beside;

/*
 * Loads the code of several processes while no clock runs. In PyTorch each makes its first run,
 * too: libraries and kernels are loaded then, and several do so in the time of one. False: those
 * that are left do not go on
 */
extern bool measure_load_beside(Measure *m, const Beside *beside);

#endif							/* CUDAL1_BESIDE_H */
