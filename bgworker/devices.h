/*
 * devices.h
 *		The devices of this host: found by a search, registered in the database, given jobs.
 */
#ifndef CUDAL1_DEVICES_H
#define CUDAL1_DEVICES_H

#include "postgres.h"

#include "supervise/jobs.h"

/* searches for devices again, as soon as nothing is measured */
extern void cudal1_devices_look(void);

/* forgets all devices, because the extension is gone */
extern void cudal1_devices_drop(void);

/* ends a search that runs */
extern void cudal1_devices_stop(void);

/* advances a search, and refreshes the registrations; *ended: a search ended, so look for jobs */
extern Cudal1Call cudal1_devices_poll(bool *ended);

/* claims jobs for devices that have room; look: a job may have been queued since the last call */
extern Cudal1Call cudal1_devices_claim(const char *worker, bool look);

extern long cudal1_devices_next_ms(void);

extern int	cudal1_devices_count(void);

/* why nothing can be measured, or NULL */
extern const char *cudal1_devices_problem(void);

/* since when claims fail, and why the last one did; NULL: it did not */
extern const char *cudal1_devices_failure(void);

#endif							/* CUDAL1_DEVICES_H */
