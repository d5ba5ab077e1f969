/*
 * jobs.h
 *		What the shared supervision of measurements needs of an agent.
 */
#ifndef CUDAL1_AGENT_JOBS_H
#define CUDAL1_AGENT_JOBS_H

#include "devices.h"

/* before any other call of supervise/; ends the program where it can't wait for children */
extern void jobs_prepare(void);

/* false, with the reason logged and the claim given back, when the program could not be started */
extern bool jobs_begin(AgentDevice *device, const Cudal1Claim *claim);

#endif							/* CUDAL1_AGENT_JOBS_H */
