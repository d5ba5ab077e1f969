/*
 * generate.h
 *		Requests to language models, sent by one cudal1-generate.
 */
#ifndef CUDAL1_GENERATE_H
#define CUDAL1_GENERATE_H

#include "postgres.h"

#include "supervise/jobs.h"

/*
 * Stores answers, makes candidates of them, advances campaigns and sends requests.  look: something
 * may have changed in the database.
 */
extern Cudal1Call cudal1_generate_poll(const char *worker, bool look);

/* why requests that wait are not sent, in words; NULL: they are, or none waits */
extern const char *cudal1_generate_problem(void);

/* milliseconds until the next poll is due even if nothing happens */
extern long cudal1_generate_next_ms(void);

/* ends the program and reports nothing: the extension is gone, or the worker ends by an error */
extern void cudal1_generate_drop(void);

/* ends the program, stores the answers at hand, gives the claims back */
extern void cudal1_generate_leave(const char *worker);

#endif							/* CUDAL1_GENERATE_H */
