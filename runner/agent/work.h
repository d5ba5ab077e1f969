/*
 * work.h
 *		The work of an agent, from its first connection to its end.
 */
#ifndef CUDAL1_AGENT_WORK_H
#define CUDAL1_AGENT_WORK_H

/* serves the devices of this host until it is told to leave or has no more to do; exit status */
extern int	work_measure(void);

#endif							/* CUDAL1_AGENT_WORK_H */
