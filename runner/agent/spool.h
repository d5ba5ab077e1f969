/*
 * spool.h
 *		Results on disk until the database has them.
 */
#ifndef CUDAL1_AGENT_SPOOL_H
#define CUDAL1_AGENT_SPOOL_H

#include "agent.h"

typedef struct AgentSpool
{
	char	   *folder;
	int			lock;
	/* of the folder: claims that bear it belong to the agent that holds the folder's lock */
	char		id[33];
} AgentSpool;

/*
 * place: which database this is. False, with the reason logged: another agent holds the folder of
 * this device and database, or it can't be made.
 */
extern bool spool_open(AgentSpool *spool, const char *place, const char *device_key);
extern void spool_keep(const AgentSpool *spool, const Cudal1Claim *claim, const char *result);
extern void spool_drop(const AgentSpool *spool, const Cudal1Claim *claim);

typedef enum SpoolVerdict
{
	SPOOL_SETTLED,				/* may be dropped */
	SPOOL_KEPT,					/* to be offered again; the others can be handed over */
	SPOOL_STOP					/* none can be handed over now */
} SpoolVerdict;

/* hands over what is there. False: not all of it, and it is to be called again */
extern bool spool_each(const AgentSpool *spool,
					   SpoolVerdict (*settle) (const Cudal1Claim *claim, const char *result));

#endif							/* CUDAL1_AGENT_SPOOL_H */
