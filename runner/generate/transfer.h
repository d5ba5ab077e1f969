/*
 * transfer.h
 *		Requests in flight, all in one thread.
 */
#ifndef CUDAL1_TRANSFER_H
#define CUDAL1_TRANSFER_H

#include <curl/curl.h>
#include <jansson.h>
#include <stdbool.h>

#include "generate/spool.h"

extern const char *transfer_authorities;	/* NULL: the system's */

extern void transfer_open(void);

/* one try of a job; a line of output tells how it went */
extern void transfer_begin(const json_t *job, Attempt attempt);
extern void transfer_cancel(Attempt attempt);

/* serves what is in flight; milliseconds until it has to be served again */
extern int	transfer_serve(void);
extern bool transfer_any(void);

/* waits for what is in flight and for other descriptors */
extern void transfer_wait(struct curl_waitfd *others, int n, int wait_ms);

#endif							/* CUDAL1_TRANSFER_H */
