/*
 * main.c
 *		cudal1-agent: the worker's job over libpq, for hosts without a server.
 *
 * One loop, one connection and any number of devices: it waits in one place, for the database, for
 * children and for signals, and then looks at all that could have changed. Notifications make it
 * look sooner; nothing depends on one.
 *
 * The order at a start is what keeps a measurement from being lost or made twice: the folder of the
 * device is locked, results that a killed predecessor left are offered, then what else it had
 * claimed is given back, and only then is anything claimed.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <libpq-fe.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "devices.h"
#include "jobs.h"
#include "queue.h"
#include "common/clock.h"
#include "common/options.h"

/* registered again after this time, to show that the device is served */
#define REFRESH			60.0
/* how long agents count as idle after they say so, and how long before its end they say it again */
#define IDLE_SECONDS	60.0
#define IDLE_MARGIN		20.0
/* what children get to end in, when the agent leaves */
#define LEAVE_MS		1000

static AgentDevice devices[AGENT_MAX_DEVICES];
static int	ndevices;

/* ---- devices ---- */

/* offers a result that a former agent left */
static SpoolVerdict
settle(const Cudal1Claim *claim, const char *result)
{
	Cudal1Report report = {.claim = claim,.result = result};
	Cudal1Call	outcome = queue_finish(&report, 1);

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
		&& queue_register(device->line, &device->device_id) != CUDAL1_CALL_DONE)
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

		if (!spool_open(&device->spool, queue_place(), device->key))
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
	outcome = queue_claim(device->device_id, worker, &claim);
	if (outcome == CUDAL1_CALL_CUT)
	{
		/* committed or not: its name will tell */
		device->unsettled = true;
		return;
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
	free(claim.job);
	free(claim.mates);
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

/*
 * a pilot that measures nothing keeps its device from others: it does not wait for ever for a
 * server, or for its rights there
 */
static bool
is_out_of_patience(double disconnected_since)
{
	return (agent_settings.once || agent_settings.until_idle >= 0)
		&& (!queue_connected() || queue_refused()) && cudal1_jobs_measuring() == 0
		&& clock_now() - disconnected_since > agent_settings.patience;
}

static int
work(void)
{
	double		connected_at = clock_now(),
				poll_at = 0,
				expire_at = 0,
				refresh_at = 0,
				idle_until = 0,
				idle_since = -1;
	bool		opened = false;
	bool		was_connected = false;

	for (;;)
	{
		double		now = clock_now(),
					next;
		bool		woken,
					look;
		int			ended;

		if (agent_mode == AGENT_LEAVE)
			return leave(0);
		if (!queue_connect(false))
			was_connected = false;
		else if (!queue_refused())
			connected_at = now;
		if (queue_connected() && !was_connected)
		{
			was_connected = true;
			if (!opened && !open_spools())
				return 1;
			opened = true;
			refresh_at = idle_until = 0;
		}
		if (is_out_of_patience(connected_at) || (!opened && queue_mismatch()))
		{
			agent_log("gave up: %s", queue_problem());
			return opened ? leave(1) : 1;
		}
		woken = queue_notified();
		cudal1_children_collect();
		(void) cudal1_jobs_poll(woken, &ended);
		look = ended > 0 || woken || now >= poll_at;
		if (queue_connected())
		{
			int64_t		id;

			if (now >= expire_at)
			{
				(void) queue_expire_leases();
				expire_at = now + fmax(1, agent_settings.lease / 4.0);
			}
			for (int i = 0; i < ndevices && now >= refresh_at && queue_connected(); i++)
				if (queue_register(devices[i].line, &id) == CUDAL1_CALL_DONE)
					devices[i].device_id = id;
			if (now >= refresh_at)
			{
				queue_check_version();
				refresh_at = now + REFRESH;
			}
			/*
			 * an upgrade of the database under an agent that runs: what it measures is still
			 * welcome
			 */
			if (queue_mismatch() && agent_mode == AGENT_WORK)
				agent_mode = AGENT_DRAIN;
			if (now >= poll_at)
				poll_at = now + agent_settings.poll;
			claim_all(look);
			/* said before the last look, so that a submission after it is noticed */
			if (has_idle_device() && agent_mode == AGENT_WORK && idle_until < now + IDLE_MARGIN)
			{
				bool		said = queue_announce_idle(IDLE_SECONDS) == CUDAL1_CALL_DONE;

				idle_until = now + (said ? IDLE_SECONDS : IDLE_MARGIN + 1);
				claim_all(said);
			}
		}
		if (has_finished())
			return leave(queue_mismatch() ? 1 : 0);
		if (!is_idle())
			idle_since = -1;
		else if (idle_since < 0)
			idle_since = now;
		if (idle_since >= 0 && agent_settings.until_idle >= 0
			&& now - idle_since >= agent_settings.until_idle)
			return leave(0);

		next = now + cudal1_jobs_next_ms() / 1000.0;
		if (!queue_connected())
			next = fmin(next, fmax(queue_retry_at(), now));
		else
			next = fmin(fmin(next, poll_at), fmin(expire_at, refresh_at));
		if (queue_connected() && has_idle_device() && agent_mode == AGENT_WORK)
			next = fmin(next, idle_until - IDLE_MARGIN);
		for (int i = 0; i < ndevices; i++)
			if (devices[i].retry_at > now)
				next = fmin(next, devices[i].retry_at);
		if (idle_since >= 0 && agent_settings.until_idle >= 0)
			next = fmin(next, idle_since + agent_settings.until_idle);
		agent_wait(queue_socket(), POLLIN, true, next);
	}
}

/* ---- command line ---- */

static void
usage(FILE *to)
{
	fputs("cudal1-agent measures for a database of another host: it claims jobs, runs "
		  "cudal1-measure and reports the results.\n"
		  "\n"
		  "Usage:\n"
		  "  cudal1-agent [OPTION]... [CONNINFO]\n"
		  "\n"
		  "CONNINFO is a connection string or URI as of libpq; what it leaves open comes from "
		  "PGHOST, PGPASSFILE and so on.\n"
		  "The role needs no more than SELECT cudal1_grant('role', 'agent') gives.\n"
		  "\n"
		  "  --device WHICH        what to serve: a key as cudal1-measure --devices names it, cpu, "
		  "cuda or all; default all.\n"
		  "                        Of the GPUs only those in CUDA_VISIBLE_DEVICES, where that is "
		  "set\n"
		  "  --until-idle[=SEC]    leave when there has been no work for so long (0)\n"
		  "  --once                one job a device, then leave\n"
		  "  --patience SEC        with either of these: leave after so long without a connection, "
		  "unless something is measured; default 120\n"
		  "  --prefetch N          jobs built ahead while another is measured; default 1\n"
		  "  --poll SEC            time between two looks at the queue when nothing wakes the "
		  "agent; default 5\n"
		  "  --lease SEC           a job without a sign of life is given to another after this "
		  "time; default 60\n"
		  "  --grace SEC           time a job may take beyond the limits of its profile; default "
		  "120\n"
		  "  --host NAME           name of this host in the database; default its own\n"
		  "  --state FOLDER        locks, and results until they are stored; default "
		  "~/.local/state/cudal1-agent\n"
		  "  --scratch FOLDER      working files; default TMPDIR or /tmp\n"
		  "  --measure FILE        another cudal1-measure than the one beside this program\n"
		  "  --python FILE         interpreter with PyTorch, for cudal1-measure\n"
		  "  --allow-unsandboxed   let candidates run where no sandbox can be set up, with your "
		  "rights\n"
		  "  --version, --help\n"
		  "\n"
		  "SIGTERM and SIGINT give back what is being measured and leave; SIGUSR1 finishes it "
		  "first.\n"
		  "Exit status: 0 after leaving in order, 1 if it could not work, 2 for wrong usage.\n",
		  to);
}

static const char *
beside_ourselves(void)
{
	char		path[PATH_MAX];
	ssize_t		n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char	   *slash;

	if (n <= 0)
		return "/usr/bin/cudal1-measure";
	path[n] = '\0';
	slash = strrchr(path, '/');
	return agent_format("%.*s/cudal1-measure", (int) (slash - path), path);
}

static void
fill_settings(void)
{
	static char host[256];
	const char *tmp = getenv("TMPDIR");
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	if (!agent_settings.host)
	{
		if (gethostname(host, sizeof(host) - 1) != 0)
			snprintf(host, sizeof(host), "localhost");
		agent_settings.host = host;
	}
	if (!agent_settings.measure)
		agent_settings.measure = beside_ourselves();
	if (!agent_settings.scratch)
		agent_settings.scratch = tmp && tmp[0] ? tmp : "/tmp";
	if (!agent_settings.state && state && state[0])
		agent_settings.state = agent_format("%s/cudal1-agent", state);
	if (!agent_settings.state && home && home[0])
		agent_settings.state = agent_format("%s/.local/state/cudal1-agent", home);
	if (!agent_settings.state)
	{
		fputs("cudal1-agent: HOME is not set: --state must name a folder that outlives the agent\n",
			  stderr);
		exit(2);
	}
}

int
main(int argc, char **argv)
{
	AgentSettings *s = &agent_settings;
	const Option options[] = {
		{"device", OPTION_TEXT, &s->device},
		{"until-idle", OPTION_NUMBER, &s->until_idle, 0, 1e6, .optional = true},
		{"once", OPTION_FLAG, &s->once},
		{"patience", OPTION_NUMBER, &s->patience, 0, 1e6},
		{"prefetch", OPTION_INTEGER, &s->prefetch, 0, 16},
		{"poll", OPTION_NUMBER, &s->poll, 0.01, 3600},
		{"lease", OPTION_INTEGER, &s->lease, 1, 86400},
		{"grace", OPTION_INTEGER, &s->grace, 0, 86400},
		{"host", OPTION_TEXT, &s->host},
		{"state", OPTION_TEXT, &s->state},
		{"scratch", OPTION_TEXT, &s->scratch},
		{"measure", OPTION_TEXT, &s->measure},
		{"python", OPTION_TEXT, &s->python},
		{"allow-unsandboxed", OPTION_FLAG, &s->unsandboxed},
		{NULL}
	};
	int			status = options_read(argc, argv, "cudal1-agent", options, usage);

	if (status >= 0)
		return status;
	if (optind + 1 < argc)
	{
		usage(stderr);
		return 2;
	}
	if (optind < argc)
		agent_settings.conninfo = argv[optind];
	if (strchr(agent_settings.conninfo, '=') || strstr(agent_settings.conninfo, "://"))
	{
		char	   *problem = NULL;
		PQconninfoOption *parsed = PQconninfoParse(agent_settings.conninfo, &problem);

		if (!parsed)
		{
			fprintf(stderr, "cudal1-agent: %s", problem ? problem : "no memory\n");
			return 2;
		}
		PQconninfoFree(parsed);
	}
	fill_settings();
	agent_block_signals();
	jobs_prepare();
	srand48((long) time(NULL) ^ ((long) getpid() << 16));
	ndevices = devices_find(devices);
	if (ndevices == 0)
		return agent_mode == AGENT_LEAVE ? 0 : 1;
	return work();
}
