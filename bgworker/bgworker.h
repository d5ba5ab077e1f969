/*
 * bgworker.h
 *		How sessions wake workers and wait for them.
 *
 * A session may call all of these without shared_preload_libraries.  Waking does nothing then, and
 * waiting is a plain sleep, so callers that look again after each return need no second way.
 */
#ifndef CUDAL1_BGWORKER_H
#define CUDAL1_BGWORKER_H

#include "postgres.h"

/* whether this server preloaded the library, so that shared memory and workers exist */
extern bool cudal1_is_preloaded(void);

/* at the commit of this transaction: wake the database's worker, and notify agents that are idle */
extern void cudal1_wake_worker_at_commit(void);

/* at the commit of this transaction: wake all backends in cudal1_waiters_sleep() */
extern void cudal1_wake_waiters_at_commit(void);

/*
 * Waiting for a verdict: prepare, then look, then sleep, and look again after each return.  A
 * commit between the look and the sleep ends the sleep at once.
 *
 *		cudal1_waiters_prepare(); while (!everything_is_final() && left > 0)
 *		cudal1_waiters_sleep(left); cudal1_waiters_cancel();
 *
 * cudal1_waiters_sleep() sleeps at most timeout_ms milliseconds (1 or more), and may return sooner
 * for no reason; without preloading it sleeps at most 100 ms.  It serves interrupts: a cancelled
 * query raises an error.  cudal1_waiters_cancel() is safe at any time, and an aborted transaction
 * cancels by itself.
 */
extern void cudal1_waiters_prepare(void);
extern void cudal1_waiters_sleep(long timeout_ms);
extern void cudal1_waiters_cancel(void);

#endif							/* CUDAL1_BGWORKER_H */
