/*
 * spool.h
 *		Answers that were paid for, kept until the other side has stored them.
 */
#ifndef CUDAL1_SPOOL_H
#define CUDAL1_SPOOL_H

#include <stddef.h>

/* one try of a request */
typedef struct Attempt
{
	long long	request_id;
	long long	number;
} Attempt;

extern const char *spool_folder;	/* NULL: nothing is kept */

extern void spool_keep(Attempt attempt, const char *line, size_t length);
extern void spool_forget(Attempt attempt);

/* puts out what a former process kept and the other side has not stored yet */
extern void spool_replay(void);

#endif							/* CUDAL1_SPOOL_H */
