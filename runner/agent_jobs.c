/*
 * agent_jobs.c
 *		From a claim to its verdict.
 *
 * A job's child runs, or was told to stop, or is gone and the verdict is being stored; that order has no way back. A result
 * is on disk before anybody is told of it, and is offered until the database has answered: `stored`, or `lost`, where the
 * lease ran out while the connection was down and another has the job. The child goes on measuring through both.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "agent.h"
#include "clock.h"

#define MAX_JOBS		512
/* heartbeats with news are at least this far apart, and without news at most this far (or a third of the lease) */
#define BEAT			1.0
#define QUIET_BEAT		5.0
/* how long a child is taken to wait that does not say so again: it does so every five seconds, and one that is stopped does not */
#define WAITING			15.0
/* between SIGTERM, or a result, and SIGKILL; and at the end of the agent */
#define STOP			5.0
#define LEAVE			1.0
/* lines that are neither progress nor result, and bytes in all, before a child is ended */
#define MAX_GARBAGE		100
#define MAX_OUTPUT		((uint64_t) 256 << 20)
#define MAX_PROGRESS	16384
#define MAX_DETAIL		2000
/* how long an end that a signal brought waits for the same signal to reach us */
#define OUR_SIGNAL		2.0
/* refusals of a verdict that is not ours to change */
#define MAX_REFUSALS	3

typedef enum
{
	ENDING_NONE,
	ENDING_CANCELLED,
	ENDING_FENCED,				/* another has the job: report nothing */
	ENDING_LOST					/* overdue or misbehaved, see reason */
} Ending;

typedef struct
{
	AgentChild	child;
	AgentDevice *device;
	int64_t		job_id;
	int			attempt;
	Ending		ending;
	char	   *reason;
	char	   *result;
	double		result_at;
	bool		given_up;		/* the program was told to stop, and not by us */
	char	   *progress;		/* not sent yet */
	bool		shown;			/* the first progress was sent, which does not wait */
	bool		beat_soon;
	double		last_beat;
	double		waits_until;	/* for the device, as it said last, which does not count as its time */
	double		last_turn;
	double		used;
	double		limit;
	int			garbage;
	double		stop_at;		/* 0: not told to stop */
	bool		killed;
	int			tries;
	int			refusals;
	double		retry_at;
	bool		done;
} Job;

static Job *jobs[MAX_JOBS];
static int	njobs = 0;

int
job_count(void)
{
	return njobs;
}

int
job_measuring(void)
{
	int			n = 0;

	for (int i = 0; i < njobs; i++)
		n += !jobs[i]->child.gone;
	return n;
}

char **
job_command(const char *option)
{
	char	  **argv = agent_alloc(sizeof(char *) * 8);
	int			n = 0;

	argv[n++] = (char *) agent_settings.measure;
	if (option)
		argv[n++] = (char *) option;
	if (agent_settings.unsandboxed)
		argv[n++] = "--allow-unsandboxed";
	argv[n++] = "--scratch";
	argv[n++] = (char *) agent_settings.scratch;
	if (agent_settings.python)
	{
		argv[n++] = "--python";
		argv[n++] = (char *) agent_settings.python;
	}
	return argv;
}

/* ---- what the child writes ---- */

static void
stop(Job *job, Ending ending, const char *reason)
{
	if (job->ending != ENDING_NONE)
		return;
	job->ending = ending;
	if (reason)
	{
		job->reason = agent_copy(reason, strlen(reason));
		agent_log("%s: %s", job->child.label, reason);
	}
	job->stop_at = clock_now();
	child_signal(&job->child, SIGTERM);
}

/*
 * A batch system signals all processes of a job, in any order, and the program may have answered before we are told. That is no
 * verdict and no failure: the claim is given back if our own signal follows. If none does, somebody stopped this program alone.
 */
static void
give_up(Job *job)
{
	job->given_up = true;
	job->retry_at = clock_now() + OUR_SIGNAL;
}

static bool
ended_by_signal(const AgentChild *child)
{
	int			number = WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0;

	return number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGKILL;
}

static void
take_line(void *owner, char *line, size_t length)
{
	Job		   *job = owner;
	json_t	   *root;
	const char *type;
	const char *phase;
	const char *outcome;

	/* after a result, and after it was told to stop, nothing it says counts */
	if (job->result || job->ending != ENDING_NONE)
		return;
	root = json_loadb(line, length, 0, NULL);
	type = json_string_value(json_object_get(root, "type"));
	phase = json_string_value(json_object_get(root, "phase"));
	outcome = json_string_value(json_object_get(root, "outcome"));
	if (type && strcmp(type, "result") == 0)
	{
		job->result = agent_copy(line, length);
		job->result_at = clock_now();
		if (outcome && strcmp(outcome, "cancelled") == 0)
			give_up(job);
		else
			spool_keep(&job->device->spool, job->job_id, job->attempt, job->result);
	}
	else if (type && strcmp(type, "progress") == 0 && length <= MAX_PROGRESS)
	{
		free(job->progress);
		job->progress = agent_copy(line, length);
		job->waits_until = phase && strcmp(phase, "waiting") == 0 ? clock_now() + WAITING : 0;
	}
	else
		job->garbage++;
	json_decref(root);
}

static void
hold_to_limits(Job *job, double now)
{
	job->used += fmax(0, now - fmax(job->last_turn, job->waits_until));
	job->last_turn = now;

	if (job->child.overlong)
		stop(job, ENDING_LOST, "the measuring program wrote a line that is too long");
	else if (job->garbage > MAX_GARBAGE)
		stop(job, ENDING_LOST, "the measuring program wrote lines that are not of its protocol");
	else if (job->child.bytes > MAX_OUTPUT)
		stop(job, ENDING_LOST, "the measuring program wrote too much");
	else if (!job->result && job->used > job->limit)
		stop(job, ENDING_LOST, "the measuring program did not end in time");

	if (!job->killed && ((job->stop_at > 0 && now - job->stop_at > STOP) || (job->result && now - job->result_at > STOP)))
	{
		job->killed = true;
		child_signal(&job->child, SIGKILL);
	}
}

/* ---- what goes to the database ---- */

static double
quiet_beat(void)
{
	return fmin(QUIET_BEAT, agent_settings.lease / 3.0);
}

static bool
beat_is_due(const Job *job, double now)
{
	if (job->ending == ENDING_FENCED || !queue_connected())
		return false;
	if (job->progress && !job->shown)
		return true;
	if (now - job->last_beat < BEAT)
		return false;
	return job->progress || job->beat_soon || now - job->last_beat >= quiet_beat();
}

static void
heartbeat(Job *job, double now)
{
	AgentVerdict verdict;
	AgentCall	outcome = queue_heartbeat(job->job_id, job->attempt, job->progress, &verdict);

	job->last_beat = now;
	job->shown |= job->progress != NULL;
	job->beat_soon = outcome != CALL_DONE;
	if (outcome == CALL_DONE || outcome == CALL_FAILED)
	{
		free(job->progress);
		job->progress = NULL;
	}
	if (outcome != CALL_DONE)
		return;
	if (verdict == VERDICT_LOST)
	{
		if (job->ending == ENDING_NONE)
			agent_log("%s: given to another", job->child.label);
		job->ending = job->stop_at > 0 ? ENDING_FENCED : job->ending;
		stop(job, ENDING_FENCED, NULL);
	}
	else if (verdict == VERDICT_CANCEL && !job->result)
		stop(job, ENDING_CANCELLED, NULL);
}

/* a result made here */
static char *
make_result(const char *outcome, const char *detail)
{
	/* the detail is ours and of few words, but for an error message of the server: cut between characters */
	size_t		length = detail ? strlen(detail) : 0;
	json_t	   *root;
	char	   *text;

	if (length > MAX_DETAIL)
		for (length = MAX_DETAIL; length > 0 && ((unsigned char) detail[length] & 0xc0) == 0x80; length--)
			;
	root = json_pack("{s:s, s:s, s:o}", "type", "result", "outcome", outcome, "detail",
					 detail ? json_stringn(detail, length) : json_null());
	text = json_dumps(root, JSON_PRESERVE_ORDER);
	json_decref(root);
	if (!text)
		text = agent_format("{\"type\": \"result\", \"outcome\": \"%s\", \"detail\": null}", outcome);
	return text;
}

static char *
verdict_of(const Job *job)
{
	char	   *ending;
	char	   *detail;
	char	   *result;

	if (job->ending == ENDING_CANCELLED)
		return make_result("cancelled", NULL);
	if (job->ending == ENDING_LOST)
		return make_result("lost", job->reason);
	if (job->result)
		return agent_copy(job->result, strlen(job->result));
	ending = child_ending(&job->child);
	detail = agent_format("cudal1-measure %s before it wrote a result", ending);
	result = make_result("lost", detail);
	free(ending);
	free(detail);
	return result;
}

static void
conclude(Job *job, double now)
{
	AgentCall	outcome;
	bool		stored;
	char	   *verdict;

	if (job->ending == ENDING_FENCED)
	{
		job->done = true;
		spool_drop(&job->device->spool, job->job_id, job->attempt);
		return;
	}
	if (!job->result && !job->given_up && job->ending == ENDING_NONE && ended_by_signal(&job->child))
		give_up(job);
	if (!queue_connected())
		return;
	if (now < job->retry_at)
	{
		if (beat_is_due(job, now))
			heartbeat(job, now);
		return;
	}
	verdict = verdict_of(job);
	outcome = queue_finish(job->job_id, job->attempt, verdict, &stored);
	free(verdict);
	switch (outcome)
	{
		case CALL_DONE:
			if (!stored)
				agent_log("%s: the verdict came too late, another has the job", job->child.label);
			job->done = true;
			spool_drop(&job->device->spool, job->job_id, job->attempt);
			break;
		case CALL_CUT:
			break;
		case CALL_FAILED:
			/* a result that the database refuses becomes a lost attempt: tried again as often as the profile says */
			if (job->ending == ENDING_NONE)
			{
				job->ending = ENDING_LOST;
				job->reason = agent_format("the result could not be stored: %s", queue_problem());
			}
			else if (++job->refusals >= MAX_REFUSALS)
			{
				agent_log("%s: the verdict was refused again; the job is measured again when its lease ends", job->child.label);
				job->done = true;
				spool_drop(&job->device->spool, job->job_id, job->attempt);
			}
			/* FALLTHROUGH */
		case CALL_TRANSIENT:
			job->tries++;
			job->retry_at = clock_now() + fmin(10, 0.1 * (1 << (job->tries < 8 ? job->tries : 8)));
			break;
	}
}

static void
advance(Job *job, bool woken)
{
	double		now = clock_now();

	child_poll(&job->child);
	job->beat_soon |= woken;
	if (job->child.gone)
	{
		conclude(job, now);
		return;
	}
	hold_to_limits(job, now);
	if (beat_is_due(job, now))
		heartbeat(job, now);
}

static void
forget(int i)
{
	Job		   *job = jobs[i];

	jobs[i] = jobs[--njobs];
	if (!job->child.gone)
		child_kill(&job->child);
	child_free(&job->child);
	job->device->running--;
	free(job->reason);
	free(job->result);
	free(job->progress);
	free(job);
}

int
job_turn(bool woken)
{
	int			ended = 0;

	for (int i = njobs - 1; i >= 0; i--)
	{
		advance(jobs[i], woken);
		if (jobs[i]->done)
		{
			forget(i);
			ended++;
		}
	}
	return ended;
}

double
job_next(void)
{
	double		now = clock_now();
	double		next = now + 3600;

	for (int i = 0; i < njobs; i++)
	{
		Job		   *job = jobs[i];

		if (queue_connected() && job->ending != ENDING_FENCED)
		{
			next = fmin(next, job->last_beat + (job->progress || job->beat_soon ? BEAT : quiet_beat()));
			if (job->child.gone)
				next = fmin(next, job->retry_at);
		}
		if (!job->child.gone)
		{
			if (!job->result && job->ending == ENDING_NONE)
				next = fmin(next, fmax(job->last_turn, job->waits_until) + job->limit - job->used + 0.001);
			if (job->stop_at > 0 && !job->killed)
				next = fmin(next, job->stop_at + STOP + 0.001);
			if (job->result && !job->killed)
				next = fmin(next, job->result_at + STOP + 0.001);
		}
	}
	return fmax(next, now + 0.001);
}

bool
job_begin(AgentDevice *device, const AgentClaim *claim)
{
	Job		   *job;
	char	  **argv;
	char	   *input;
	char		label[64];
	bool		started;

	if (njobs >= MAX_JOBS)
	{
		(void) queue_release(claim->job_id, claim->attempt);
		return false;
	}
	job = agent_alloc(sizeof(Job));
	job->device = device;
	job->job_id = claim->job_id;
	job->attempt = claim->attempt;
	job->last_beat = job->last_turn = clock_now();
	job->limit = (double) claim->limit + agent_settings.grace;
	snprintf(label, sizeof(label), "job %" PRId64 " on %.40s", claim->job_id, device->key);
	argv = job_command(NULL);
	input = agent_format("%s\n", claim->job);
	started = child_start(&job->child, label, argv, input, take_line, job);
	free(argv);
	free(input);
	if (!started)
	{
		free(job);
		(void) queue_release(claim->job_id, claim->attempt);
		return false;
	}
	device->running++;
	jobs[njobs++] = job;
	return true;
}

void
job_abandon(void)
{
	while (njobs > 0)
		forget(njobs - 1);
}

void
job_leave(void)
{
	double		until = clock_now() + LEAVE;
	bool		running = true;

	for (int i = 0; i < njobs; i++)
		child_signal(&jobs[i]->child, SIGTERM);
	while (running && clock_now() < until)
	{
		running = false;
		for (int i = 0; i < njobs; i++)
		{
			/* what it writes from now on is the answer to our signal */
			if (!jobs[i]->result && jobs[i]->ending == ENDING_NONE)
				jobs[i]->ending = ENDING_FENCED;
			child_poll(&jobs[i]->child);
			running |= !jobs[i]->child.gone;
		}
		if (running)
			agent_wait(-1, 0, true, clock_now() + 0.02);
	}
	while (njobs > 0)
	{
		Job		   *job = jobs[njobs - 1];
		bool		stored = false;

		if (!job->child.gone)
			child_kill(&job->child);
		if (job->ending != ENDING_FENCED && !job->given_up)
		{
			char	   *verdict = verdict_of(job);
			AgentCall	outcome = queue_finish(job->job_id, job->attempt, verdict, &stored);

			free(verdict);
			if (outcome == CALL_DONE)
			{
				spool_drop(&job->device->spool, job->job_id, job->attempt);
				stored = true;
			}
			else if (job->result && outcome != CALL_FAILED)
			{
				agent_log("%s: the result stays on disk for the next agent", job->child.label);
				stored = true;
			}
		}
		if (!stored)
			(void) queue_release(job->job_id, job->attempt);
		forget(njobs - 1);
	}
}
