/*
 * agent.h
 *		What the files of cudal1-agent share.
 *
 * The agent does the worker's job over libpq. supervise/ starts and supervises the measuring
 * programs for both; an agent adds a connection that may be cut, signals, and a command line.
 */
#ifndef CUDAL1_AGENT_H
#define CUDAL1_AGENT_H

#include <stdbool.h>
#include <stddef.h>

#include "supervise/supervise.h"

typedef struct AgentSettings
{
	const char *conninfo;
	const char *device;			/* a key, "cpu", "cuda" or "all" */
	const char *host;
	const char *measure;
	const char *python;			/* NULL: the measuring program's own choice */
	const char *scratch;
	int			prefetch;		/* claims ahead of the one that is measured */
	int			grace;			/* seconds beyond the limits of a job's profile */
	double		poll;			/* seconds between two looks at the queue */
	double		until_idle;		/* leave after so many seconds without work, below 0: never */
	double		patience;		/* seconds without a device to serve after which a pilot leaves */
	bool		once;
	bool		unsandboxed;
} AgentSettings;

/* Wishes of signals. */
typedef enum AgentMode
{
	AGENT_WORK,
	AGENT_DRAIN,				/* finish what runs, claim nothing */
	AGENT_LEAVE					/* give back what runs */
} AgentMode;

extern AgentSettings agent_settings;
extern AgentMode agent_mode;

/* agent.c */
extern void agent_log(const char *format,...) __attribute__((format(printf, 1, 2)));

/* malloc or the end of the program */
extern char *agent_format(const char *format,...) __attribute__((format(printf, 1, 2)));

/* from here on signals are taken in by agent_wait alone */
extern void agent_block_signals(void);

/* waits for the socket (-1: none), for signals, which it takes in, and if told so for children */
extern void agent_wait(int socket, short events, bool children, double until);

/* devices.c: the devices of this host that the agent serves */
#define AGENT_MAX_DEVICES	64

typedef struct AgentDevice
{
	char	   *key;
	char	   *line;			/* of cudal1-measure --devices */
	bool		gpu;
	int			index;			/* of a GPU, in the order of the bus */
	int64_t		device_id;		/* 0: not registered */
	int64_t		claims;			/* asked for since the start */
	int64_t		begun;			/* jobs, since the start */
	bool		unsettled;		/* the connection was cut during the last claim */
	bool		empty;			/* the last claim found nothing */
	int			failures;
	double		retry_at;
} AgentDevice;

/* argv of the measuring program, CUDAL1_COMMAND_WORDS, with one more option or NULL */
extern void agent_command(char **argv, const char *option);

/* fills key and line of at most AGENT_MAX_DEVICES; how many, 0 with the reason logged */
extern int	devices_find(AgentDevice *devices);

/* connection.c: the one connection; a call without it is CUDAL1_CALL_CUT */

typedef struct ConnectionState
{
	double		retry_at;		/* of clock_now(), when the next try is made */
	bool		refused;		/* the role was refused the last statement */
	/*
	 * The connection leads to another database, or another installation of the extension, than
	 * before: jobs and devices have other numbers there.
	 */
	bool		moved;
	/* the extension is of another version than this program, so that nothing may be claimed */
	bool		mismatch;
} ConnectionState;

extern ConnectionState connection_state;

/* true once connected; tries when it is time for another try, or at once */
extern bool connection_open(bool at_once);
extern void connection_close(void);

/* looks at the database and the extension's version; false: can't be served, as was noted */
extern bool connection_check_database(void);

/* work.c: serves the devices until it is told to leave or has no more to do; exit status */
extern int	work_measure(void);

#endif							/* CUDAL1_AGENT_H */
