/*
 * devices.h
 *		The devices of this host that an agent serves.
 */
#ifndef CUDAL1_AGENT_DEVICES_H
#define CUDAL1_AGENT_DEVICES_H

#include "spool.h"

#define AGENT_MAX_DEVICES	64
#define AGENT_MAX_NAME		512

typedef struct AgentDevice
{
	int64_t		device_id;		/* 0: not registered */
	char	   *key;
	char	   *line;			/* of cudal1-measure --devices */
	AgentSpool	spool;
	char		name[AGENT_MAX_NAME];	/* the beginning of the names of its claims */
	bool		recovered;		/* what a former agent left was settled */
	int64_t		serial;			/* of the last claim */
	bool		unsettled;		/* the connection was cut during that claim */
	bool		empty;			/* the last claim found nothing */
	int			failures;
	double		retry_at;
	int64_t		claims;			/* begun since the start */
} AgentDevice;

/*
 * fills key and line of at most AGENT_MAX_DEVICES devices; their number, 0 with the reason logged
 */
extern int	devices_find(AgentDevice *devices);

#endif							/* CUDAL1_AGENT_DEVICES_H */
