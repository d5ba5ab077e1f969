/*
 * What the rest of the extension knows of the workers: how to wake them, how to wait for them.
 *
 * Everything here may be called without shared_preload_libraries; waking then does nothing and waiting is a plain sleep,
 * so that callers which look again at every return need no second way.
 */
#ifndef CUDAL1_BGWORKER_H
#define CUDAL1_BGWORKER_H

#include "postgres.h"

/* whether this server preloaded the library, so that shared memory and workers exist */
extern bool cudal1_is_preloaded(void);

/* when the current transaction commits: wake this database's worker, and notify agents that said they are idle */
extern void cudal1_wake_worker_at_commit(void);

/* when the current transaction commits: wake every backend in cudal1_waiters_sleep(), of any database */
extern void cudal1_wake_waiters_at_commit(void);

/*
 * Waiting for a verdict. Prepare first, then look, then sleep, and look again after every return: whatever commits between
 * the look and the sleep ends the sleep at once.
 *
 *		cudal1_waiters_prepare();
 *		while (!everything_is_final() && left > 0)
 *			cudal1_waiters_sleep(left);
 *		cudal1_waiters_cancel();
 *
 * Sleeps at most timeout_ms milliseconds (1 or more) and may return sooner for no reason; without preloading it sleeps at
 * most 100 ms. Interrupts are served (a cancelled query raises an error). cancel is safe at any time, and an aborted
 * transaction cancels by itself.
 */
extern void cudal1_waiters_prepare(void);
extern void cudal1_waiters_sleep(long timeout_ms);
extern void cudal1_waiters_cancel(void);

#endif							/* CUDAL1_BGWORKER_H */
