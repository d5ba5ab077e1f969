/*
 * work.c
 *		What an agent does for its devices: it claims jobs, sees them measured, and leaves.
 *
 * One loop, one connection and any number of devices. The agent waits in one place, for children,
 * for signals and for the time of its next look at the queue. A result waits in memory until the
 * database has answered: `stored`, or `lost`, where the lease ran out while the connection was down
 * and another has the job. Claims of an agent that is killed go to others when their leases end.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "common/clock.h"

#define REFRESH			60.0	/* seconds between registrations, which show a device served */
#define MOST_PAUSE		60.0	/* seconds, after claims that failed */
#define LEAVE_MS		1000	/* for children to end in, when the agent leaves */

static AgentDevice devices[AGENT_MAX_DEVICES];
static int	ndevices;
static time_t started;

/* ---- claims ---- */

/* Prefix of the name of a device's present claim in the queue; the caller frees it. */
static char *
name_claim(const AgentDevice *device)
{
	return agent_format("agent %.200s %.200s pid %d claim %" PRId64, agent_settings.host,
						device->key, (int) getpid(), device->claims);
}

/* takes the present claim back, if there is one; false: the connection was cut */
static bool
take_back(const AgentDevice *device)
{
	char	   *name = name_claim(device);
	int64_t		taken;
	Cudal1Call	outcome = cudal1_queue_number("SELECT cudal1.take_back($1, '')", 1,
											  (const char *const[]) {name}, &taken);

	free(name);
	return outcome == CUDAL1_CALL_DONE;
}

/* registers a device; takes a claim back whose answer was lost. False: tried again later */
static bool
prepare_device(AgentDevice *device)
{
	if (device->device_id == 0
		&& cudal1_queue_register(agent_settings.host, device->line, &device->device_id)
		!= CUDAL1_CALL_DONE)
		return false;
	device->unsettled = device->unsettled && !take_back(device);
	return !device->unsettled;
}

static bool
begin(AgentDevice *device, const Cudal1Heat *claimed)
{
	char	   *argv[CUDAL1_COMMAND_WORDS];

	agent_command(argv, NULL);
	if (cudal1_jobs_begin(device, claimed, argv, agent_settings.scratch, agent_settings.grace))
		return true;
	agent_log("%s", cudal1_problem);
	return false;
}

static void
claim_for(AgentDevice *device)
{
	Cudal1Heat	claimed = {0};
	Cudal1Call	outcome = CUDAL1_CALL_FAILED;

	if (prepare_device(device))
	{
		char	   *name;
		char	   *worker;

		device->claims++;
		name = name_claim(device);
		worker = agent_format("%s since %lld", name, (long long) started);
		outcome = cudal1_queue_claim(device->device_id, worker, &claimed);
		free(worker);
		free(name);
		/* The claim's name will tell whether it was committed. */
		device->unsettled = outcome == CUDAL1_CALL_CUT;
	}
	/* After a new CREATE EXTENSION the device's number may be another one's. */
	if (outcome == CUDAL1_CALL_FAILED || claimed.n > 0)
		(void) connection_check_database();
	if (connection_state.moved && claimed.n > 0)
	{
		(void) take_back(device);
		outcome = CUDAL1_CALL_FAILED;
	}
	device->empty = outcome == CUDAL1_CALL_DONE && claimed.n == 0;
	if (!device->empty && (outcome != CUDAL1_CALL_DONE || !begin(device, &claimed)))
	{
		device->failures += device->failures < 8;
		device->retry_at = clock_now() + fmin(MOST_PAUSE, 0.5 * (1 << device->failures));
	}
	else
		device->failures = 0;
	device->begun += claimed.n > 0;
	free(claimed.job);
}

static bool
may_claim(const AgentDevice *device)
{
	return agent_mode == AGENT_WORK && cudal1_connected && !device->empty
		&& clock_now() >= device->retry_at && !(agent_settings.once && device->begun > 0);
}

/* breadth first: no device is given a job to build ahead while another has none */
static void
claim_all(void)
{
	for (int i = 0; i < ndevices; i++)
		devices[i].empty = false;
	for (int depth = 0; depth <= agent_settings.prefetch; depth++)
		for (int i = 0; i < ndevices; i++)
			if (may_claim(&devices[i]) && cudal1_jobs_on_device(&devices[i]) <= depth)
				claim_for(&devices[i]);
}

/* ---- leaving ---- */

/* whether the queue answers, and has a device for this agent; other roles' devices are refused */
static bool
is_served(void)
{
	for (int i = 0; i < ndevices; i++)
		if (devices[i].device_id != 0)
			return cudal1_connected && !connection_state.refused;
	return false;
}

static bool
is_idle(void)
{
	for (int i = 0; i < ndevices; i++)
		if (!devices[i].empty)
			return false;
	return cudal1_jobs_count() == 0 && cudal1_connected;
}

static bool
has_finished(void)
{
	bool		all = agent_settings.once;

	for (int i = 0; i < ndevices; i++)
		all = all && devices[i].begun > 0;
	return cudal1_jobs_count() == 0 && (all || agent_mode == AGENT_DRAIN);
}

static int
leave(int status)
{
	agent_mode = AGENT_LEAVE;
	if (cudal1_jobs_count() > 0)
		connection_open(true);
	cudal1_jobs_leave(LEAVE_MS);
	for (int i = 0; i < ndevices && cudal1_connected; i++)
		(void) prepare_device(&devices[i]);
	connection_close();
	return status;
}

/* ---- loop ---- */

int
work_measure(void)
{
	bool		pilot = agent_settings.once || agent_settings.until_idle >= 0;
	double		served_at = clock_now();
	double		busy_at = served_at;
	double		poll_at = 0;
	double		expire_at = 0;
	double		refresh_at = 0;

	if (!cudal1_children_prepare(agent_log))
	{
		agent_log("no epoll descriptor: %s", strerror(errno));
		return 1;
	}
	started = time(NULL);
	ndevices = devices_find(devices);
	if (ndevices == 0)
		return agent_mode == AGENT_LEAVE ? 0 : 1;
	for (;;)
	{
		double		now = clock_now();
		bool		connected = connection_open(false);
		double		next;
		int			ended;

		if (agent_mode == AGENT_LEAVE)
			return leave(0);
		if (connection_state.moved)
		{
			/* a person must say that this one is meant */
			agent_log("the connection leads to another database or another installation of the "
					  "extension than before");
			cudal1_jobs_drop();
			return 1;
		}
		if (is_served())
			served_at = now;
		/* a pilot that measures nothing keeps its device from others, so it waits not for ever */
		if ((pilot && !cudal1_jobs_measuring() && now - served_at > agent_settings.patience)
			|| (!connected && connection_state.mismatch))
		{
			agent_log("gave up: %s", cudal1_problem);
			return leave(1);
		}
		cudal1_children_collect();
		(void) cudal1_jobs_poll(&ended);
		if (cudal1_connected && now >= refresh_at)
		{
			(void) connection_check_database();
			for (int i = 0; i < ndevices && cudal1_connected; i++)
				(void) cudal1_queue_register(agent_settings.host, devices[i].line,
											 &devices[i].device_id);
			refresh_at = now + REFRESH;
		}
		if (cudal1_connected && now >= expire_at)
		{
			(void) cudal1_queue_run("SELECT cudal1.expire_leases()", 0, NULL, NULL, 0);
			expire_at = now + fmax(1, cudal1_lease_seconds / 4.0);
		}
		if (connection_state.mismatch && agent_mode == AGENT_WORK)
			agent_mode = AGENT_DRAIN;
		if (cudal1_connected && (now >= poll_at || ended > 0))
		{
			claim_all();
			poll_at = now + agent_settings.poll;
		}
		if (has_finished())
			return leave(connection_state.mismatch ? 1 : 0);
		if (!is_idle())
			busy_at = now;
		if (agent_settings.until_idle >= 0 && now - busy_at >= agent_settings.until_idle
			&& is_idle())
			return leave(0);
		next = fmin(cudal1_connected ? poll_at : fmax(connection_state.retry_at, now),
					clock_now() + cudal1_jobs_next_ms() / 1000.0);
		agent_wait(-1, 0, true, next);
	}
}
