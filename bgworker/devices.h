/*
 * The devices of this host: found by `cudal1-measure --devices`, registered in the database, given jobs.
 */
#ifndef CUDAL1_DEVICES_H
#define CUDAL1_DEVICES_H

#include "postgres.h"

#include "jobs.h"

/* look for devices anew, soon */
extern void cudal1_devices_look(void);

/* forget all that was registered: the extension is gone */
extern void cudal1_devices_drop(void);

/* ends a search that runs */
extern void cudal1_devices_stop(void);

/* drives the search and refreshes the registrations */
extern Cudal1Turn cudal1_devices_turn(void);

/* claims jobs for every device that has room; look: something may have been queued since the last time */
extern Cudal1Turn cudal1_devices_claim(const char *worker, bool look);

extern long cudal1_devices_next_ms(void);

extern int	cudal1_devices_count(void);

/* why nothing can be measured, NULL if nothing is known against it */
extern const char *cudal1_devices_problem(void);

#endif							/* CUDAL1_DEVICES_H */
