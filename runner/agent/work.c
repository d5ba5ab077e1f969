/*
 * work.c
 *		What an agent does for its devices: it claims jobs, sees them measured, and leaves.
 *
 * One loop, one connection and any number of devices: it waits in one place, for the database, for
 * children and for signals, and then looks at all that could have changed. Notifications make it
 * look sooner; nothing depends on one.
 *
 * The order at a start is what keeps a measurement from being lost or made twice: the folder of the
 * device is locked, results that a killed predecessor left are offered, then what else it had
 * claimed is given back, and only then is anything claimed.
 */
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "devices.h"
#include "jobs.h"
#include "queue.h"
#include "common/clock.h"

/* registered again after this time, to show that the device is served */
#define REFRESH			60.0
/* how long agents count as idle after they say so, and how long before its end they say it again */
#define IDLE_SECONDS	60.0
#define IDLE_MARGIN		20.0
#define LEAVE_MS		1000	/* what children get to end in, when the agent leaves */

static AgentDevice devices[AGENT_MAX_DEVICES];
static int	ndevices;

/* ---- devices ---- */

/* offers a result that a former agent left */
static SpoolVerdict
settle(const Cudal1Claim *claim, const char *result)
{
	Cudal1Report report = {.claim = claim,.result = result};
	Cudal1Call	outcome = cudal1_queue_finish(&report, 1);

	if (outcome == CUDAL1_CALL_CUT || outcome == CUDAL1_CALL_TRANSIENT)
		return SPOOL_STOP;
	if (outcome == CUDAL1_CALL_DONE && report.answer == CUDAL1_ANSWER_LATER)
		return SPOOL_KEPT;
	agent_log("job %" PRId64 ": the result of a former agent %s", claim->job_id,
		outcome == CUDAL1_CALL_FAILED ? "was refused"
		: report.answer == CUDAL1_ANSWER_STORED ? "is stored"
		: "came too late, another has the job");
	return SPOOL_SETTLED;
}

static void
retry_later(AgentDevice *device)
{
	device->failures++;
	device->retry_at = clock_now() + fmin(60,
										  0.5
										  * (1 << (device->failures < 8 ? device->failures : 8)));
}

/* false: tried again later */
static bool
prepare_device(AgentDevice *device)
{
	int64_t		taken;

	if (device->device_id == 0
		&& cudal1_queue_register(agent_settings.host, device->line, &device->device_id, NULL)
		!= CUDAL1_CALL_DONE)
		return false;
	if (!device->recovered)
	{
		if (!spool_each(&device->spool, settle)
			|| queue_take_back(device->name, &taken) != CUDAL1_CALL_DONE)
			return false;
		device->recovered = true;
		if (taken > 0)
			agent_log("gave back %" PRId64 " jobs of a former agent on %s", taken, device->key);
	}
	if (device->unsettled)
	{
		char	   *claim = agent_format("%s pid %d claim %" PRId64, device->name, (int) getpid(),
										 device->serial);
		Cudal1Call	outcome = queue_take_back(claim, &taken);

		free(claim);
		if (outcome != CUDAL1_CALL_DONE)
			return false;
		device->unsettled = false;
	}
	return true;
}

/* after the first connection, when it is known which database this is */
static bool
open_spools(void)
{
	int			n = 0;

	for (int i = 0; i < ndevices; i++)
	{
		AgentDevice *device = &devices[i];

		if (!spool_open(&device->spool, agent_queue.place, device->key))
			continue;
		snprintf(device->name, sizeof(device->name), "agent %s %.200s %.200s", device->spool.id,
				 agent_settings.host, device->key);
		if (n != i)
			devices[n] = *device;
		n++;
	}
	ndevices = n;
	return n > 0;
}

/* ---- claims ---- */

static void
claim_for(AgentDevice *device)
{
	static time_t since = 0;
	char		worker[AGENT_MAX_NAME + 100];
	Cudal1Claim	claim;
	Cudal1Call	outcome;

	if (since == 0)
		since = time(NULL);
	snprintf(worker, sizeof(worker), "%s pid %d claim %" PRId64 " since %lld", device->name,
			 (int) getpid(), ++device->serial, (long long) since);
	outcome = cudal1_queue_claim(device->device_id, worker, &claim);
	if (outcome == CUDAL1_CALL_CUT)
	{
		/* committed or not: its name will tell */
		device->unsettled = true;
		return;
	}
	if ((outcome != CUDAL1_CALL_DONE || claim.job_id != 0) && !queue_check_database())
	{
		int64_t		taken;

		/* where the extension is new, our number may be that of another device */
		(void) queue_take_back(device->name, &taken);
		queue_desert();
	}
	if (outcome != CUDAL1_CALL_DONE)
	{
		retry_later(device);
		return;
	}
	if (claim.job_id == 0)
		device->empty = true;
	else if (jobs_begin(device, &claim))
		device->claims++;
	else
		retry_later(device);
	if (claim.job_id == 0 || device->retry_at < clock_now())
		device->failures = 0;
	cudal1_queue_free(&claim);
}

static bool
may_claim(const AgentDevice *device)
{
	return agent_mode == AGENT_WORK && queue_connected() && !device->empty
		&& clock_now() >= device->retry_at
		&& cudal1_jobs_on_device(device) <= agent_settings.prefetch
		&& !(agent_settings.once && device->claims > 0);
}

/* breadth first: no device is given a job to build ahead while another has none */
static void
claim_all(bool look)
{
	for (int i = 0; i < ndevices && look; i++)
		devices[i].empty = false;
	for (int depth = 0; depth <= agent_settings.prefetch; depth++)
		for (int i = 0; i < ndevices; i++)
			if (may_claim(&devices[i]) && cudal1_jobs_on_device(&devices[i]) <= depth)
			{
				if (!prepare_device(&devices[i]))
					retry_later(&devices[i]);
				else
					claim_for(&devices[i]);
			}
}

static bool
has_idle_device(void)
{
	for (int i = 0; i < ndevices; i++)
		if (devices[i].empty && cudal1_jobs_on_device(&devices[i]) == 0)
			return true;
	return false;
}

/* whether nothing runs, nothing is to be had and nothing is owed */
static bool
is_idle(void)
{
	if (cudal1_jobs_count() > 0 || !queue_connected())
		return false;
	for (int i = 0; i < ndevices; i++)
		if (!devices[i].empty || !devices[i].recovered || devices[i].unsettled)
			return false;
	return true;
}

static bool
has_finished(void)
{
	if (cudal1_jobs_count() > 0)
		return false;
	if (agent_mode == AGENT_DRAIN)
		return true;
	if (!agent_settings.once)
		return false;
	for (int i = 0; i < ndevices; i++)
		if (devices[i].claims == 0)
			return false;
	return true;
}

/* ---- loop ---- */

static int
leave(int status)
{
	int64_t		taken;

	agent_mode = AGENT_LEAVE;
	if (cudal1_jobs_count() > 0 && !queue_connected())
		queue_connect(true);
	cudal1_jobs_leave(LEAVE_MS);
	for (int i = 0; i < ndevices; i++)
		if (devices[i].unsettled && queue_connected() && devices[i].name[0])
			(void) queue_take_back(devices[i].name, &taken);
	queue_close();
	return status;
}

/* whether the queue answers, and has a device for this agent; other roles' devices are refused */
static bool
is_served(void)
{
	bool		registered = false;

	for (int i = 0; i < ndevices; i++)
		registered |= devices[i].device_id != 0;
	return queue_connected() && !agent_queue.refused && registered;
}

/*
 * a pilot that measures nothing keeps its device from others: it does not wait for ever for a
 * server, or for its rights there
 */
static bool
is_out_of_patience(double disconnected_since)
{
	return (agent_settings.once || agent_settings.until_idle >= 0)
		&& !is_served() && cudal1_jobs_measuring() == 0
		&& clock_now() - disconnected_since > agent_settings.patience;
}

/* what the agent does next, and since when it does nothing; seconds of clock_now() */
typedef struct Loop
{
	double		connected_at;	/* the last time that the queue answered and had a device */
	double		poll_at;
	double		expire_at;
	double		refresh_at;
	double		idle_until;		/* the agent counts as idle so long */
	double		idle_since;		/* below 0: it is not */
	bool		opened;			/* the folders of its devices */
	bool		was_connected;
} Loop;

/* connects if it is time to; false: after the first connection no device is left to serve */
static bool
connect_queue(Loop *l, double now)
{
	if (!queue_connect(false))
		l->was_connected = false;
	else if (is_served())
		l->connected_at = now;
	if (!queue_connected() || l->was_connected)
		return true;
	l->was_connected = true;
	if (!l->opened && !open_spools())
		return false;
	l->opened = true;
	l->refresh_at = l->idle_until = 0;
	return true;
}

static void
register_devices(void)
{
	int64_t		id;

	if (!queue_check_database())
		queue_desert();
	for (int i = 0; i < ndevices && queue_connected(); i++)
	{
		Cudal1Call	outcome;

		outcome = cudal1_queue_register(agent_settings.host, devices[i].line, &id, NULL);
		if (outcome == CUDAL1_CALL_DONE)
			devices[i].device_id = id;
		else if (outcome == CUDAL1_CALL_FAILED)
			devices[i].device_id = 0;
	}
}

/* all that is due in the database */
static void
serve(Loop *l, double now, bool look)
{
	if (now >= l->expire_at)
	{
		(void) queue_expire_leases();
		l->expire_at = now + fmax(1, agent_settings.lease / 4.0);
	}
	if (now >= l->refresh_at)
	{
		register_devices();
		l->refresh_at = now + REFRESH;
	}
	/* an upgrade of the database under an agent that runs: what it measures is still welcome */
	if (agent_queue.mismatch && agent_mode == AGENT_WORK)
		agent_mode = AGENT_DRAIN;
	if (now >= l->poll_at)
		l->poll_at = now + agent_settings.poll;
	claim_all(look);
	/* said before the last look, so that a submission after it is noticed */
	if (has_idle_device() && agent_mode == AGENT_WORK && l->idle_until < now + IDLE_MARGIN)
	{
		bool		said = queue_announce_idle(IDLE_SECONDS) == CUDAL1_CALL_DONE;

		l->idle_until = now + (said ? IDLE_SECONDS : IDLE_MARGIN + 1);
		claim_all(said);
	}
}

/* whether there has been no work for as long as --until-idle says */
static bool
was_idle_enough(Loop *l, double now)
{
	if (!is_idle())
		l->idle_since = -1;
	else if (l->idle_since < 0)
		l->idle_since = now;
	return l->idle_since >= 0 && agent_settings.until_idle >= 0
		&& now - l->idle_since >= agent_settings.until_idle;
}

/* when the agent looks again, if nothing wakes it before */
static double
next_look(const Loop *l, double now)
{
	double		next = now + cudal1_jobs_next_ms() / 1000.0;

	if (!queue_connected())
		next = fmin(next, fmax(agent_queue.retry_at, now));
	else if (queue_has_news())
		next = now;
	else
		next = fmin(fmin(next, l->poll_at), fmin(l->expire_at, l->refresh_at));
	if (queue_connected() && has_idle_device() && agent_mode == AGENT_WORK)
		next = fmin(next, l->idle_until - IDLE_MARGIN);
	for (int i = 0; i < ndevices; i++)
		if (devices[i].retry_at > now)
			next = fmin(next, devices[i].retry_at);
	if (l->idle_since >= 0 && agent_settings.until_idle >= 0)
		next = fmin(next, l->idle_since + agent_settings.until_idle);
	return next;
}

int
work_measure(void)
{
	Loop		l = {.connected_at = clock_now(),.idle_since = -1};

	ndevices = devices_find(devices);
	if (ndevices == 0)
		return agent_mode == AGENT_LEAVE ? 0 : 1;
	for (;;)
	{
		double		now = clock_now();
		bool		woken;
		bool		look;
		int			ended;

		if (agent_mode == AGENT_LEAVE)
			return leave(0);
		if (!connect_queue(&l, now))
			return 1;
		if (is_out_of_patience(l.connected_at) || (!l.opened && agent_queue.mismatch))
		{
			agent_log("gave up: %s", queue_problem());
			return l.opened ? leave(1) : 1;
		}
		woken = queue_notified();
		cudal1_children_collect();
		(void) cudal1_jobs_poll(woken, &ended);
		look = ended > 0 || woken || now >= l.poll_at;
		if (queue_connected())
			serve(&l, now, look);
		if (has_finished())
			return leave(agent_queue.mismatch ? 1 : 0);
		if (was_idle_enough(&l, now))
			return leave(0);
		agent_wait(queue_socket(), POLLIN, true, next_look(&l, now));
	}
}
