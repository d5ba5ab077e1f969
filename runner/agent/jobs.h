/*
 * jobs.h
 *		Jobs as an agent has them measured: what supervise/ needs of it, and its work.
 */
#ifndef CUDAL1_AGENT_JOBS_H
#define CUDAL1_AGENT_JOBS_H

#include "devices.h"

/* before any other call of supervise/; ends the program where it can't wait for children */
extern void jobs_prepare(void);

/* false, with the reason logged and the claim given back, when the program could not be started */
extern bool jobs_begin(AgentDevice *device, const Cudal1Claim *claim);

/* serves the devices of this host until it is told to leave or has no more to do; exit status */
extern int	work_measure(void);

#endif							/* CUDAL1_AGENT_JOBS_H */
