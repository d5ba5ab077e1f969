/*
 * agent.h
 *		The bottom of cudal1-agent: settings, log, memory, signals, and the one place where it
 *		waits.
 */
#ifndef CUDAL1_AGENT_H
#define CUDAL1_AGENT_H

#include <stdbool.h>
#include <stddef.h>

#include "supervise/jobs.h"

typedef struct AgentSettings
{
	const char *conninfo;
	const char *device;			/* a key, "cpu", "cuda" or "all" */
	const char *host;
	const char *measure;
	const char *python;			/* NULL: the measuring program's own choice */
	const char *scratch;
	const char *state;			/* folder of locks and results */
	int			prefetch;		/* claims ahead of the one that is measured */
	int			lease;			/* seconds */
	int			grace;			/* seconds beyond the limits of a job's profile */
	double		poll;			/* seconds between two looks at the queue when nothing wakes */
	double		until_idle;		/* leave after so long without work, below 0: never */
	double		patience;		/* seconds without a connection after which a pilot leaves */
	bool		once;
	bool		unsandboxed;
} AgentSettings;

/* what signals asked for */
typedef enum AgentMode
{
	AGENT_WORK,
	AGENT_DRAIN,				/* finish what runs, claim nothing */
	AGENT_LEAVE					/* give back what runs */
} AgentMode;

extern AgentSettings agent_settings;
extern AgentMode agent_mode;

extern void agent_log(const char *format,...) __attribute__((format(printf, 1, 2)));

/* malloc or the end of the program */
extern void *agent_alloc(size_t size);
extern char *agent_copy(const char *text, size_t length);
extern char *agent_format(const char *format,...) __attribute__((format(printf, 1, 2)));

/* from here on signals are taken in by agent_wait alone */
extern void agent_block_signals(void);

/* waits for the socket (-1: none), for signals, which it takes in, and if told so for children */
extern void agent_wait(int socket, short events, bool children, double until);

/* argv of the measuring program, CUDAL1_COMMAND_WORDS, with one more option or NULL */
extern void agent_command(char **argv, const char *option);

#endif							/* CUDAL1_AGENT_H */
