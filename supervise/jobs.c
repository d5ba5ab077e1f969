/*
 * jobs.c
 *		From a claim to its verdict.
 *
 * A job is in one of three states, and never goes back: its child runs; its child was told to stop,
 * for the reason in `ending`; its child is gone, and the verdict is being stored.  The verdict is
 * the child's result if it wrote one.  Else it is a result made here that says how the child ended.
 *
 * The claim is committed before the child starts.  So if this process dies, it leaves a running job
 * with a lease, and nothing that would have to be undone.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "jobs.h"

#define MAX_JOBS 512

/* least time between heartbeats with news, and most time between those without */
#define BEAT_MS 1000
#define QUIET_BEAT_MS 5000
/*
 * a "waiting" report expires after this time: a child that waits repeats it every five seconds, and
 * a stopped one does not
 */
#define WAITING_MS 15000
/* a child that runs this long after SIGTERM, or after its result, gets SIGKILL */
#define STOP_MS 5000
/* a child with more lines that are neither progress nor result, or more bytes in all, is ended */
#define MAX_GARBAGE 100
#define MAX_OUTPUT ((uint64_t) 256 << 20)
/* after a child's end by a signal, the verdict waits this long for a signal to this process */
#define OUR_SIGNAL_MS 2000
/* refusals before a verdict is given up; a verdict that waits for locks is offered without limit */
#define MAX_REFUSALS 8
#define MAX_RETRY_MS 3000
/* verdicts that may wait for sessions; beyond that number, leases run out */
#define MAX_DEFERRED 128

typedef enum Ending
{
	ENDING_NONE,
	ENDING_CANCELLED,
	ENDING_FENCED,				/* another worker or agent has the job: report nothing */
	ENDING_LOST					/* overdue or misbehaved; `reason` says how */
} Ending;

typedef struct Job
{
	Cudal1Child child;
	void	   *device;
	Cudal1Claim claim;			/* without its text */
	Ending		ending;
	char		reason[CUDAL1_MAX_DETAIL + 1];
	char	   *result;
	int64_t		result_at;
	bool		given_up;		/* another process stopped the child */
	char	   *progress;		/* not sent yet */
	bool		shown;			/* progress was sent once; the first is sent at once */
	bool		beat_soon;
	int64_t		last_beat;
	/* the child waits for the device, which does not count as its time */
	int64_t		waits_until;
	int64_t		last_poll;
	int64_t		used_ms;		/* without that */
	int64_t		limit_ms;
	int			garbage;
	int64_t		stop_at;		/* when it was told to stop; 0: it was not */
	bool		killed;
	bool		deferred;		/* the verdict waits for a session's transaction */
	int			tries;
	int			refusals;
	int64_t		retry_at;
	bool		done;
} Job;

static const Cudal1Host *host;
static const Cudal1Queue *queue;
static Job *jobs[MAX_JOBS];
static int	njobs = 0;

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void
cudal1_jobs_queue(const Cudal1Host *calls, const Cudal1Queue *entries)
{
	host = calls;
	queue = entries;
	cudal1_children_host(calls);
}

int
cudal1_jobs_count(void)
{
	return njobs;
}

int
cudal1_jobs_measuring(void)
{
	int			n = 0;

	for (int i = 0; i < njobs; i++)
		n += !jobs[i]->child.gone;
	return n;
}

int
cudal1_jobs_on_device(const void *device)
{
	int			n = 0;

	for (int i = 0; i < njobs; i++)
		n += jobs[i]->device == device && !jobs[i]->deferred;
	return n;
}

static void
note(const Job *job, const char *what)
{
	char		text[CUDAL1_MAX_DETAIL + 128];

	snprintf(text, sizeof(text), "%s: %s", job->child.label, what);
	host->log(text);
}

static void
replace(char **text, char *with)
{
	free(*text);
	*text = with;
}

/* cuts a long reason between characters of UTF-8 */
static void
set_reason(Job *job, const char *first, const char *second)
{
	size_t		length;

	snprintf(job->reason, sizeof(job->reason), "%s%s", first, second);
	length = strlen(job->reason);
	if (length < CUDAL1_MAX_DETAIL)
		return;
	while (length > 0 && ((unsigned char) job->reason[length - 1] & 0xc0) == 0x80)
		length--;
	job->reason[length > 0 ? length - 1 : 0] = '\0';
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
		set_reason(job, reason, "");
		note(job, reason);
	}
	job->stop_at = cudal1_clock_ms();
	cudal1_child_signal(&job->child, SIGTERM);
}

/*
 * A batch system signals all processes of a job, in any order, so the child may end before this
 * process gets its signal.  That is no verdict and no failure: if a signal to this process follows,
 * the claim is given back.  If none follows, only the child was stopped, and its result counts.
 */
static void
give_up(Job *job)
{
	job->given_up = true;
	job->retry_at = cudal1_clock_ms() + OUR_SIGNAL_MS;
}

static bool
ended_by_signal(const Cudal1Child *child)
{
	int			number = WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0;

	return number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGKILL;
}

static void
take_line(void *owner, char *line, size_t length)
{
	Job		   *job = owner;
	Cudal1Message message;

	/* after its result, and after it was told to stop, no line of the child counts */
	if (job->result || job->ending != ENDING_NONE)
		return;
	message = queue->read(line, length);
	if (message.type == CUDAL1_MESSAGE_PROGRESS && length <= CUDAL1_MAX_PROGRESS)
	{
		replace(&job->progress, strdup(line));
		job->waits_until = message.waiting ? cudal1_clock_ms() + WAITING_MS : 0;
	}
	else if (message.type == CUDAL1_MESSAGE_RESULT && (job->result = strdup(line)) != NULL)
	{
		job->result_at = cudal1_clock_ms();
		if (message.cancelled)
			give_up(job);
		else if (queue->keep)
			queue->keep(job->device, &job->claim, job->result);
	}
	else
		job->garbage++;
}

/* ends a child that exceeds its limits */
static void
hold_to_limits(Job *job, int64_t now)
{
	job->used_ms += most(0, now - most(job->last_poll, job->waits_until));
	job->last_poll = now;

	if (job->child.overlong)
		stop(job, ENDING_LOST, "the measuring program wrote a line that is too long");
	else if (job->garbage > MAX_GARBAGE)
		stop(job, ENDING_LOST, "the measuring program wrote lines that are not of its protocol");
	else if (job->child.out_bytes > MAX_OUTPUT)
		stop(job, ENDING_LOST, "the measuring program wrote too much");
	else if (!job->result && job->used_ms > job->limit_ms)
		stop(job, ENDING_LOST, "the measuring program did not end in time");

	if (!job->killed && ((job->stop_at != 0 && now - job->stop_at > STOP_MS) ||
						 (job->result && now - job->result_at > STOP_MS)))
	{
		job->killed = true;
		cudal1_child_signal(&job->child, SIGKILL);
	}
}

/* ---- calls of the queue ---- */

static int64_t
quiet_beat(void)
{
	return least(QUIET_BEAT_MS, queue->quiet_beat());
}

static bool
beat_is_due(const Job *job, int64_t now)
{
	if (job->ending == ENDING_FENCED || !queue->connected())
		return false;
	if (job->progress && !job->shown)
		return true;
	if (now - job->last_beat < BEAT_MS)
		return false;
	return job->progress || job->beat_soon || now - job->last_beat >= quiet_beat();
}

static Cudal1Call
heartbeat(Job *job, int64_t now)
{
	Cudal1Verdict verdict = CUDAL1_VERDICT_CONTINUE;
	Cudal1Call	outcome = queue->heartbeat(job->device, &job->claim, job->progress, &verdict);

	job->last_beat = now;
	job->shown |= job->progress != NULL;
	job->beat_soon = outcome != CUDAL1_CALL_DONE;
	/* it was sent, or never can be */
	if (outcome == CUDAL1_CALL_DONE || outcome == CUDAL1_CALL_FAILED)
		replace(&job->progress, NULL);
	if (outcome != CUDAL1_CALL_DONE)
		return outcome;
	if (verdict == CUDAL1_VERDICT_LOST)
	{
		/* this replaces any other reason to stop */
		if (job->ending == ENDING_NONE)
			stop(job, ENDING_FENCED, "given to another");
		job->ending = ENDING_FENCED;
	}
	else if (verdict == CUDAL1_VERDICT_CANCEL && !job->result)
		stop(job, ENDING_CANCELLED, NULL);
	return outcome;
}

/* a string of JSON, without the quotation marks around it */
static void
append_escaped(Cudal1Buffer *text, const char *string)
{
	char		escaped[8];

	for (const unsigned char *c = (const unsigned char *) string; *c; c++)
	{
		if (*c < 0x20 || *c == '"' || *c == '\\')
		{
			snprintf(escaped, sizeof(escaped), "\\u%04x", *c);
			cudal1_buffer_append(text, escaped, 6);
		}
		else
			cudal1_buffer_append(text, (const char *) c, 1);
	}
}

/* a result made here; `text` holds it */
static const char *
make_result(Cudal1Buffer *text, const char *outcome, const char *detail)
{
	static const char without_memory[] =
		"{\"type\": \"result\", \"outcome\": \"lost\", \"detail\": null}";
	char		head[80];

	snprintf(head, sizeof(head), "{\"type\": \"result\", \"outcome\": \"%s\", \"detail\": ",
			 outcome);
	cudal1_buffer_append(text, head, strlen(head));
	cudal1_buffer_append(text, detail ? "\"" : "null", detail ? 1 : 4);
	if (detail)
	{
		append_escaped(text, detail);
		cudal1_buffer_append(text, "\"", 1);
	}
	cudal1_buffer_append(text, "}", 1);
	return text->lost ? without_memory : text->data;
}

static const char *
verdict_of(Job *job, Cudal1Buffer *made)
{
	if (job->ending == ENDING_CANCELLED)
		return make_result(made, "cancelled", NULL);
	if (job->ending == ENDING_NONE && job->result)
		return job->result;
	if (job->ending == ENDING_NONE)
	{
		char		ending[200];

		snprintf(ending, sizeof(ending), "cudal1-measure %s", cudal1_child_ending(&job->child));
		set_reason(job, ending, " before it wrote a result");
		if (job->tries == 0)
			note(job, job->reason);
	}
	return make_result(made, "lost", job->reason);
}

static void
close_job(Job *job)
{
	job->done = true;
	if (queue->forget)
		queue->forget(job->device, &job->claim);
}

static Cudal1Call
offer(Job *job, bool *stored, const char **problem)
{
	Cudal1Buffer	made = {0};
	const char *verdict = verdict_of(job, &made);
	Cudal1Call	outcome = queue->finish(job->device, &job->claim, verdict, stored, problem);

	free(made.data);
	return outcome;
}

static int
count_deferred(void)
{
	int			n = 0;

	for (int i = 0; i < njobs; i++)
		n += jobs[i]->deferred;
	return n;
}

static Cudal1Call
store_verdict(Job *job, int64_t now)
{
	Cudal1Call	outcome;
	bool		stored = false;
	const char *problem = NULL;

	if (job->ending == ENDING_FENCED)
	{
		close_job(job);
		return CUDAL1_CALL_DONE;
	}
	if (!job->result && !job->given_up && job->ending == ENDING_NONE &&
		ended_by_signal(&job->child))
		give_up(job);
	if (!queue->connected())
		return CUDAL1_CALL_CUT;
	if (now < job->retry_at)
		return beat_is_due(job, now) ? heartbeat(job, now) : CUDAL1_CALL_DONE;

	outcome = offer(job, &stored, &problem);
	if (outcome == CUDAL1_CALL_DONE)
	{
		if (!stored)
			note(job, "the verdict came too late, another has the job");
		close_job(job);
		return outcome;
	}
	if (outcome == CUDAL1_CALL_GONE || outcome == CUDAL1_CALL_CUT)
		return outcome;

	job->deferred = outcome == CUDAL1_CALL_LATER;
	if (job->deferred && count_deferred() > MAX_DEFERRED)
	{
		note(job, "too many verdicts wait; the job is measured again when its lease ends");
		close_job(job);
	}
	/* a refused result becomes a lost attempt, which is repeated as often as the profile says */
	if (outcome == CUDAL1_CALL_FAILED && job->ending == ENDING_NONE)
	{
		job->ending = ENDING_LOST;
		set_reason(job, "the result could not be stored: ", problem ? problem : "no reason given");
	}
	job->tries++;
	job->refusals += outcome == CUDAL1_CALL_FAILED;
	if (job->refusals >= MAX_REFUSALS)
	{
		note(job, "refused too often; the job is measured again when its lease ends");
		close_job(job);
	}
	/* not from `now`, because the call itself may have waited */
	job->retry_at = cudal1_clock_ms() + least(MAX_RETRY_MS, 100L << least(job->tries, 8));
	return outcome;
}

static Cudal1Call
advance(Job *job, bool woken)
{
	int64_t		now = cudal1_clock_ms();

	cudal1_child_poll(&job->child);
	job->beat_soon |= woken;
	if (job->child.gone)
		return store_verdict(job, now);
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
	free(job->result);
	free(job->progress);
	free(job);
}

Cudal1Call
cudal1_jobs_poll(bool woken, int *ended)
{
	*ended = 0;
	for (int i = njobs - 1; i >= 0; i--)
	{
		if (advance(jobs[i], woken) == CUDAL1_CALL_GONE)
			return CUDAL1_CALL_GONE;
		if (jobs[i]->done)
		{
			forget(i);
			(*ended)++;
		}
	}
	return CUDAL1_CALL_DONE;
}

int64_t
cudal1_jobs_next_ms(void)
{
	int64_t		now = cudal1_clock_ms();
	int64_t		next = now + 3600 * 1000;

	for (int i = 0; i < njobs; i++)
	{
		Job		   *job = jobs[i];

		if (queue->connected() && job->ending != ENDING_FENCED)
		{
			bool		news = job->progress || job->beat_soon;

			next = least(next, job->last_beat + (news ? BEAT_MS : quiet_beat()));
			if (job->child.gone)
				next = least(next, job->retry_at);
		}
		if (job->child.gone)
			continue;
		if (!job->result && job->ending == ENDING_NONE)
			next = least(next, most(job->last_poll, job->waits_until) +
						 job->limit_ms - job->used_ms + 1);
		if (job->stop_at != 0 && !job->killed)
			next = least(next, job->stop_at + STOP_MS + 1);
		if (job->result && !job->killed)
			next = least(next, job->result_at + STOP_MS + 1);
	}
	return most(1, next - now);
}

bool
cudal1_jobs_begin(void *device, const Cudal1Claim *claim, char **argv, const char *scratch,
				  int grace_seconds, const char **problem)
{
	Cudal1Program program = {.argv = argv,.scratch = scratch,.on_line = take_line};
	Cudal1Buffer	input = {0};
	char		label[64];
	Job		   *job = njobs < MAX_JOBS ? calloc(1, sizeof(*job)) : NULL;
	bool		started = false;

	cudal1_buffer_append(&input, claim->job, strlen(claim->job));
	cudal1_buffer_append(&input, "\n", 1);
	if (!job || input.lost)
		*problem = njobs < MAX_JOBS ? "out of memory" : "too many jobs at once";
	else
	{
		snprintf(label, sizeof(label), "cudal1-measure, job %lld", (long long) claim->job_id);
		job->device = device;
		job->claim = *claim;
		job->claim.job = NULL;
		job->last_beat = job->last_poll = cudal1_clock_ms();
		job->limit_ms = ((int64_t) claim->limit_seconds + grace_seconds) * 1000;
		program.label = label;
		program.input = input.data;
		program.owner = job;
		started = cudal1_child_start(&job->child, &program, problem);
	}
	free(input.data);
	if (started)
		jobs[njobs++] = job;
	else
	{
		free(job);
		(void) queue->release(device, claim);
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

/* offers the verdict a last time; gives the claim back if it is neither stored nor kept on disk */
static void
leave_job(Job *job)
{
	bool		stored = false;
	const char *problem;

	if (!job->child.gone)
		cudal1_child_kill(&job->child);
	if (job->ending != ENDING_FENCED && !job->given_up)
	{
		Cudal1Call	outcome = offer(job, &stored, &problem);

		if (outcome == CUDAL1_CALL_DONE)
		{
			close_job(job);
			return;
		}
		if (queue->keep && job->result && outcome != CUDAL1_CALL_FAILED)
		{
			note(job, "the result stays on disk for the next agent");
			return;
		}
	}
	(void) queue->release(job->device, &job->claim);
}

void
cudal1_jobs_leave(int grace_ms)
{
	int64_t		until = cudal1_clock_ms() + grace_ms;
	bool		running = true;

	for (int i = 0; i < njobs; i++)
		cudal1_child_signal(&jobs[i]->child, SIGTERM);
	while (running && cudal1_clock_ms() < until)
	{
		struct pollfd ready = {.fd = cudal1_children_epoll(),.events = POLLIN};

		running = false;
		for (int i = 0; i < njobs; i++)
		{
			/* a result that comes now answers the signal, and is no verdict */
			if (!jobs[i]->result && jobs[i]->ending == ENDING_NONE)
				jobs[i]->ending = ENDING_FENCED;
			cudal1_child_poll(&jobs[i]->child);
			running |= !jobs[i]->child.gone;
		}
		if (running)
			(void) poll(&ready, 1, 10);
	}
	while (njobs > 0)
	{
		leave_job(jobs[njobs - 1]);
		forget(njobs - 1);
	}
}
