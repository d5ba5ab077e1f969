/*
 * queue.h
 *		The entry points of the queue over libpq (docs/protocol.md, section 1). Each is
 *		CUDAL1_CALL_CUT without a connection.
 */
#ifndef CUDAL1_AGENT_QUEUE_H
#define CUDAL1_AGENT_QUEUE_H

#include "agent.h"

/* true once connected; tries when it is time for another try, or at once */
extern bool queue_connect(bool at_once);
extern bool queue_connected(void);
extern void queue_close(void);
extern int	queue_socket(void);

/* run of the agent's Cudal1Queue */
extern Cudal1Call queue_run(const char *query, int n, const char *const *values, char **columns,
							int ncolumns);

/* whether something was notified since the last call */
extern bool queue_notified(void);

/* whether it is to be called at once; what our own calls have sent makes no socket ready */
extern bool queue_has_news(void);

/* what calls have told of the database; queue.c alone writes to it */
typedef struct AgentQueue
{
	char	   *place;			/* server, database, extension; NULL before the first connection */
	double		retry_at;		/* of clock_now(), without a connection */
	bool		refused;		/* the role may not execute the last statement */
	/* the extension has another version than we: nothing may be claimed; queue_problem() says it */
	bool		mismatch;
} AgentQueue;

extern AgentQueue agent_queue;
extern const char *queue_problem(void);

/* false: the extension was dropped and created again; looks at its version, too */
extern bool queue_check_database(void);

/* ends the agent, since the queue is not the one that it served */
extern _Noreturn void queue_desert(void);

extern Cudal1Call queue_take_back(const char *beginning, int64_t *taken);
extern Cudal1Call queue_announce_idle(double seconds);
extern Cudal1Call queue_expire_leases(void);

#endif							/* CUDAL1_AGENT_QUEUE_H */
