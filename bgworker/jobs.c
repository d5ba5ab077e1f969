/*
 * Supervision of measurements.
 *
 * A job here is in one of three conditions: its child runs; its child was told to stop, and why is written in `ending`; its
 * child is gone and the verdict is being stored. What the child did decides nothing beyond that: the document
 * stored is the child's result if it wrote one, and otherwise one made here that says how the child ended.
 *
 * The claim was committed before the child starts, so a death of the worker at any point leaves a running job with a
 * lease, and nothing that would have to be undone.
 */
#include "postgres.h"

#include <signal.h>

#include "libpq/pqsignal.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "child.h"
#include "entry.h"
#include "jobs.h"
#include "message.h"
#include "settings.h"

#define MAX_JOBS 512

/* heartbeats of a job are at least this far apart */
#define BEAT_MS 1000
/* how long a child is taken to wait that does not say so again: it does so every five seconds, and one that is stopped does not */
#define WAITING_MS 15000
/* between SIGTERM, or a result, and SIGKILL */
#define STOP_MS 5000
/* lines that are neither progress nor result, and bytes in all, before a child is ended */
#define MAX_GARBAGE 100
#define MAX_OUTPUT (UINT64CONST(256) * 1024 * 1024)
/* refusals of a verdict; while it waits for others' locks it is tried on */
#define MAX_REFUSALS 8
/* errors in the supervision itself before the job is given up */
#define MAX_ERRORS 5

typedef enum Ending
{
	ENDING_NONE,
	ENDING_CANCELLED,
	ENDING_FENCED,				/* another worker holds the job: report nothing */
	ENDING_LOST					/* overdue or misbehaved, see reason */
} Ending;

typedef struct Job
{
	MemoryContext context;
	Cudal1Child child;
	int64		job_id;
	int			attempt;
	int64		device_id;
	Ending		ending;
	char	   *reason;
	char	   *result;
	int64		result_at;
	char	   *progress;		/* not sent yet */
	bool		shown;			/* the first progress was sent, which does not wait */
	bool		beat_soon;
	int64		last_beat;
	int64		waits_until;	/* for the device, as it said last, which does not count as its time */
	int64		last_turn;
	int64		used_ms;
	int64		limit_ms;
	int			garbage;
	int64		stop_at;		/* 0: not told to stop */
	bool		killed;
	int			tries;
	int			refusals;
	int64		retry_at;
	int			errors;
	bool		done;
} Job;

static Job *jobs[MAX_JOBS];
static int	njobs = 0;

int
cudal1_jobs_count(void)
{
	return njobs;
}

int
cudal1_jobs_on_device(int64 device_id)
{
	int			n = 0;

	for (int i = 0; i < njobs; i++)
		n += jobs[i]->device_id == device_id;
	return n;
}

char **
cudal1_jobs_command(const char *option)
{
	char	  **argv = palloc0(sizeof(char *) * 8);
	int			n = 0;

	argv[n++] = cudal1_settings_program();
	if (option != NULL)
		argv[n++] = pstrdup(option);
	if (cudal1_allow_unsandboxed)
		argv[n++] = "--allow-unsandboxed";
	argv[n++] = "--scratch";
	argv[n++] = cudal1_settings_scratch();
	if (cudal1_python[0] != '\0')
	{
		argv[n++] = "--python";
		argv[n++] = pstrdup(cudal1_python);
	}
	return argv;
}

/* ---- what the child writes ---- */

static void
take_line(void *owner, char *line, int length)
{
	Job		   *job = owner;
	bool		waiting;

	/* after a result, and after it was told to stop, nothing it says counts */
	if (job->result != NULL || job->ending != ENDING_NONE)
		return;
	switch (cudal1_message_classify(line, length, &waiting))
	{
		case CUDAL1_MESSAGE_PROGRESS:
			if (job->progress != NULL)
				pfree(job->progress);
			job->progress = MemoryContextStrdup(job->context, line);
			job->waits_until = waiting ? cudal1_clock_ms() + WAITING_MS : 0;
			break;
		case CUDAL1_MESSAGE_RESULT:
			job->result = MemoryContextStrdup(job->context, line);
			job->result_at = cudal1_clock_ms();
			break;
		case CUDAL1_MESSAGE_INVALID:
			job->garbage++;
			break;
	}
}

static void
stop(Job *job, Ending ending, const char *reason)
{
	if (job->ending != ENDING_NONE)
		return;
	job->ending = ending;
	if (reason != NULL)
	{
		job->reason = MemoryContextStrdup(job->context, reason);
		ereport(LOG,
				(errmsg("%s: %s", job->child.label, reason)));
	}
	job->stop_at = cudal1_clock_ms();
	cudal1_child_signal(&job->child, SIGTERM);
}

/* ends a child that goes beyond what it may */
static void
hold_to_limits(Job *job, int64 now)
{
	job->used_ms += Max(0, now - Max(job->last_turn, job->waits_until));
	job->last_turn = now;

	if (job->child.overlong)
		stop(job, ENDING_LOST, "the measuring program wrote a line that is too long");
	else if (job->garbage > MAX_GARBAGE)
		stop(job, ENDING_LOST, "the measuring program wrote lines that are not of its protocol");
	else if (job->child.out_bytes > MAX_OUTPUT)
		stop(job, ENDING_LOST, "the measuring program wrote too much");
	else if (job->result == NULL && job->used_ms > job->limit_ms)
		stop(job, ENDING_LOST, "the measuring program did not end in time");

	if (!job->killed &&
		((job->stop_at != 0 && now - job->stop_at > STOP_MS) ||
		 (job->result != NULL && now - job->result_at > STOP_MS)))
	{
		job->killed = true;
		cudal1_child_signal(&job->child, SIGKILL);
	}
}

/* ---- what goes to the database ---- */

static bool
beat_is_due(const Job *job, int64 now)
{
	if (job->ending == ENDING_FENCED)
		return false;
	if (job->progress != NULL && !job->shown)
		return true;
	if (now - job->last_beat < BEAT_MS)
		return false;
	return job->progress != NULL || job->beat_soon || now - job->last_beat >= (int64) cudal1_lease_seconds * 1000 / 3;
}

static Cudal1Call
heartbeat(Job *job, int64 now)
{
	Cudal1Verdict verdict;
	Cudal1Call	outcome = cudal1_entry_heartbeat(job->job_id, job->attempt, job->progress, &verdict);

	job->last_beat = now;
	job->shown |= job->progress != NULL;
	job->beat_soon = outcome != CUDAL1_CALL_DONE;
	if (outcome == CUDAL1_CALL_DONE || outcome == CUDAL1_CALL_FAILED)
	{
		/* sent, or not fit to be sent */
		if (job->progress != NULL)
			pfree(job->progress);
		job->progress = NULL;
	}
	if (verdict == CUDAL1_VERDICT_LOST)
		stop(job, ENDING_FENCED, NULL);
	else if (verdict == CUDAL1_VERDICT_CANCEL && job->result == NULL)
		stop(job, ENDING_CANCELLED, NULL);
	return outcome;
}

static const char *
verdict_of(Job *job)
{
	char	   *detail;

	if (job->ending == ENDING_CANCELLED)
		return cudal1_message_result("cancelled", NULL);
	if (job->ending == ENDING_LOST)
		return cudal1_message_result("lost", job->reason);
	if (job->result != NULL)
		return job->result;
	detail = psprintf("cudal1-measure %s before it wrote a result", cudal1_child_ending(&job->child));
	ereport(LOG,
			(errmsg("%s: %s", job->child.label, detail)));
	return cudal1_message_result("lost", detail);
}

static Cudal1Call
conclude(Job *job, int64 now)
{
	Cudal1Call	outcome;
	bool		stored;
	char	   *problem = NULL;

	if (job->ending == ENDING_FENCED)
	{
		job->done = true;
		return CUDAL1_CALL_DONE;
	}
	if (now < job->retry_at)
		return beat_is_due(job, now) ? heartbeat(job, now) : CUDAL1_CALL_DONE;

	outcome = cudal1_entry_finish(job->job_id, job->attempt, verdict_of(job), &stored, &problem);
	if (outcome == CUDAL1_CALL_DONE)
	{
		job->done = true;
		return outcome;
	}
	if (outcome == CUDAL1_CALL_GONE)
		return outcome;

	/* a result that the database refuses becomes a lost attempt: tried again as often as the profile says */
	if (outcome == CUDAL1_CALL_FAILED && job->ending == ENDING_NONE)
	{
		job->ending = ENDING_LOST;
		job->reason = MemoryContextStrdup(job->context,
										  psprintf("the result could not be stored: %s", problem ? problem : "no reason given"));
	}
	job->tries++;
	job->refusals += outcome == CUDAL1_CALL_FAILED;
	if (job->refusals >= MAX_REFUSALS)
	{
		ereport(WARNING,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("%s: gave up storing the verdict after %d tries", job->child.label, job->refusals),
				 errdetail("The job is measured again when its lease ends.")));
		job->done = true;
	}
	/* the call itself may have waited */
	job->retry_at = cudal1_clock_ms() + Min(3000, 100L << Min(job->tries, 8));
	return outcome;
}

static Cudal1Call
advance(Job *job, bool woken)
{
	int64		now = cudal1_clock_ms();

	cudal1_child_poll(&job->child);
	job->beat_soon |= woken;
	if (job->child.gone)
		return conclude(job, now);
	hold_to_limits(job, now);
	return beat_is_due(job, now) ? heartbeat(job, now) : CUDAL1_CALL_DONE;
}

static void
forget(int i)
{
	Job		   *job = jobs[i];

	jobs[i] = jobs[--njobs];
	if (!job->child.gone)
		cudal1_child_kill(&job->child);
	cudal1_child_free(&job->child);
	MemoryContextDelete(job->context);
}

/* an error in the supervision of one job must touch no other, and must not come back for ever */
static Cudal1Call
advance_safely(Job *job, bool woken)
{
	MemoryContext caller = CurrentMemoryContext;
	volatile Cudal1Call outcome = CUDAL1_CALL_FAILED;

	PG_TRY();
	{
		outcome = advance(job, woken);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller);
		EmitErrorReport();
		FlushErrorState();
		if (++job->errors >= MAX_ERRORS)
		{
			(void) cudal1_entry_release(job->job_id, job->attempt);
			job->done = true;
		}
		job->retry_at = cudal1_clock_ms() + 1000;
	}
	PG_END_TRY();
	return outcome;
}

Cudal1Turn
cudal1_jobs_turn(bool woken)
{
	Cudal1Turn	turn = CUDAL1_TURN_QUIET;

	for (int i = njobs - 1; i >= 0; i--)
	{
		if (advance_safely(jobs[i], woken) == CUDAL1_CALL_GONE)
			return CUDAL1_TURN_GONE;
		if (jobs[i]->done)
		{
			forget(i);
			turn = CUDAL1_TURN_ENDED;
		}
	}
	return turn;
}

long
cudal1_jobs_next_ms(void)
{
	int64		now = cudal1_clock_ms();
	int64		next = now + 3600 * 1000;

	for (int i = 0; i < njobs; i++)
	{
		Job		   *job = jobs[i];

		if (job->progress != NULL || job->beat_soon)
			next = Min(next, job->last_beat + BEAT_MS);
		next = Min(next, job->last_beat + (int64) cudal1_lease_seconds * 1000 / 3);
		if (job->child.gone)
			next = Min(next, job->retry_at);
		else
		{
			if (job->result == NULL && job->ending == ENDING_NONE)
				next = Min(next, Max(job->last_turn, job->waits_until) + job->limit_ms - job->used_ms + 1);
			if (job->stop_at != 0 && !job->killed)
				next = Min(next, job->stop_at + STOP_MS + 1);
			if (job->result != NULL && !job->killed)
				next = Min(next, job->result_at + STOP_MS + 1);
		}
	}
	return Max(1, next - now);
}

bool
cudal1_jobs_begin(int64 device_id, const Cudal1Claim *claim, char **problem)
{
	MemoryContext context;
	Job		   *job;
	char		label[64];
	char	   *input = psprintf("%s\n", claim->job);
	MemoryContext caller = CurrentMemoryContext;
	volatile bool started = false;

	if (njobs >= MAX_JOBS)
	{
		*problem = pstrdup("too many jobs at once");
		(void) cudal1_entry_release(claim->job_id, claim->attempt);
		return false;
	}
	context = AllocSetContextCreate(TopMemoryContext, "cudal1 job", ALLOCSET_SMALL_SIZES);
	job = MemoryContextAllocZero(context, sizeof(Job));
	job->context = context;
	job->job_id = claim->job_id;
	job->attempt = claim->attempt;
	job->device_id = device_id;
	job->last_beat = job->last_turn = cudal1_clock_ms();
	job->limit_ms = ((int64) claim->limit_seconds + cudal1_child_grace) * 1000;
	snprintf(label, sizeof(label), "cudal1-measure, job " INT64_FORMAT, claim->job_id);

	/* in the list first: whatever happens from here, the child is found and ended */
	job->child.gone = true;
	jobs[njobs++] = job;
	PG_TRY();
	{
		started = cudal1_child_start(&job->child, label, cudal1_jobs_command(NULL), cudal1_settings_scratch(),
									 NULL, input, strlen(input), take_line, job, problem);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller);
		EmitErrorReport();
		FlushErrorState();
		*problem = pstrdup("the measuring program could not be watched");
		if (job->child.pid != 0)
			cudal1_child_kill(&job->child);
	}
	PG_END_TRY();
	if (!started)
	{
		job->child.gone = true;
		forget(njobs - 1);
		(void) cudal1_entry_release(claim->job_id, claim->attempt);
	}
	return started;
}

void
cudal1_jobs_drop(void)
{
	for (int i = 0; i < njobs; i++)
		cudal1_child_signal(&jobs[i]->child, SIGKILL);
	while (njobs > 0)
		forget(njobs - 1);
}

void
cudal1_jobs_leave(int grace_ms)
{
	int64		until = cudal1_clock_ms() + grace_ms;
	bool		running = true;

	for (int i = 0; i < njobs; i++)
		cudal1_child_signal(&jobs[i]->child, SIGTERM);
	while (running && cudal1_clock_ms() < until)
	{
		running = false;
		for (int i = 0; i < njobs; i++)
		{
			Job		   *job = jobs[i];

			/* what it writes from now on is the answer to our signal */
			if (job->result == NULL && job->ending == ENDING_NONE)
				job->ending = ENDING_FENCED;
			cudal1_child_poll(&job->child);
			running |= !job->child.gone;
		}
		if (running)
			(void) WaitLatchOrSocket(NULL, WL_SOCKET_READABLE | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
									 cudal1_children_epoll(), 10, PG_WAIT_EXTENSION);
	}
	for (int i = 0; i < njobs; i++)
	{
		Job		   *job = jobs[i];

		if (!job->child.gone)
			cudal1_child_kill(&job->child);
	}
	while (njobs > 0)
	{
		Job		   *job = jobs[njobs - 1];
		bool		stored = false;

		if (job->ending != ENDING_FENCED)
			(void) cudal1_entry_finish(job->job_id, job->attempt, verdict_of(job), &stored, NULL);
		if (!stored)
			(void) cudal1_entry_release(job->job_id, job->attempt);
		forget(njobs - 1);
	}
}
