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
extern double queue_retry_at(void);
extern void queue_close(void);
extern int	queue_socket(void);

/* run of the agent's Cudal1Queue */
extern Cudal1Call queue_run(const char *query, int n, const char *const *values, char **columns,
							int ncolumns);

/* whether something was notified since the last call */
extern bool queue_notified(void);

/* which database this is: server, database and extension; NULL before the first connection */
extern const char *queue_place(void);
extern const char *queue_problem(void);

/* whether the last statement was one that the role may not execute */
extern bool queue_refused(void);

/*
 * whether the database's extension is of another version than we, so that nothing may be claimed;
 * queue_problem() says it
 */
extern bool queue_mismatch(void);
extern void queue_check_version(void);

extern Cudal1Call queue_take_back(const char *beginning, int64_t *taken);
extern Cudal1Call queue_announce_idle(double seconds);
extern Cudal1Call queue_expire_leases(void);

#endif							/* CUDAL1_AGENT_QUEUE_H */
