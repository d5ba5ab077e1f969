/*
 * layout.h
 *		Which arrays go into a run and come out of it.
 */
#ifndef CUDAL1_LAYOUT_H
#define CUDAL1_LAYOUT_H

#include "supervisor/types.h"

/* c, cuda: as the signature says */
extern void layout_from_signature(Measure *m);

/* pytorch: inputs, as get_inputs gives them; false after conclude() */
extern bool layout_from_generator(Measure *m);

/* pytorch: outputs, after a first run of the reference; false after conclude() */
extern bool layout_from_reference(Measure *m, Executor *executor);

#endif							/* CUDAL1_LAYOUT_H */
