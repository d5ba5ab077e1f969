/*
 * places.h
 *		Moves loaded code to other memory, so that no place of it lasts.
 */
#ifndef CUDAL1_PLACES_H
#define CUDAL1_PLACES_H

/*
 * Reserves memory for the copies, before limits hold and anything foreign is loaded. Without it
 * the code stays where it is.
 */
extern void places_reserve(void);

/* makes the copies of the code that a function is part of, unless there is too much of it */
extern void places_fill(void *entry);

/* puts one of the copies, by lot, where the code is; other threads may be running it */
extern void places_draw(void);

#endif							/* CUDAL1_PLACES_H */
