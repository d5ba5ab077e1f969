/*
 * jobs.c
 *		From a claim to its verdict.
 *
 * A job is in one of three states, and never goes back: its child runs; its child was told to stop,
 * for the reason in `ending`; its child is gone, and the verdict is being stored.  The verdict is
 * the child's result if it wrote one.  Else it is an outcome that says how the child ended.
 *
 * The jobs of a heat share a child.  Each has its claim, its result and its verdict.  One that has
 * its result, or was told to stop, is settled while the child works on for the others; the child is
 * told to stop once none is left that waits for a result.
 *
 * The claim is committed before the child starts.  So if this process dies, it leaves a running job
 * with a lease, and nothing that would have to be undone.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/wait.h>

#include "jobs.h"
#include "src/message.h"

#define MAX_JOBS 512
#define LABEL "cudal1-measure, job %lld"

/* while there are jobs, all that is due by the clock is looked after so often */
#define POLL_MS 250
/* between a heartbeat and the next, with progress and without */
#define BEAT_MS 1000
#define QUIET_BEAT_MS 2000
/*
 * a "waiting" report expires after this time: a child that waits repeats it every five seconds, and
 * a stopped one does not
 */
#define WAITING_MS 15000
/* a child that runs this long after SIGTERM, or after its result, gets SIGKILL */
#define STOP_MS 5000
/* a child with more lines that are neither progress nor result is ended */
#define MAX_GARBAGE 100
/* after a child's end by a signal, the verdict waits this long for a signal to this process */
#define OUR_SIGNAL_MS 2000
#define MAX_RETRY_MS 3000

typedef enum Ending
{
	ENDING_NONE,
	ENDING_CANCELLED,
	ENDING_FENCED,				/* another worker or agent has the job: report nothing */
	ENDING_LOST					/* overdue or misbehaved; `reason` says how */
} Ending;

/* a child, and what its jobs share */
typedef struct Heat
{
	Cudal1Child child;
	int			jobs;			/* jobs that are not done */
	/* the child waits for the device, which does not count as its time */
	int64_t		waits_until;
	int64_t		last_poll;
	int64_t		used_ms;		/* without that */
	int64_t		limit_ms;
	int			garbage;
	int64_t		stop_at;		/* time from which no job waits for it; 0: one does */
} Heat;

typedef struct Job
{
	Heat	   *heat;
	void	   *device;
	Cudal1Claim claim;
	Ending		ending;
	char	   *reason;
	char	   *result;
	bool		given_up;		/* another process stopped the child */
	char	   *progress;		/* progress that was not sent yet */
	int64_t		last_beat;
	bool		deferred;		/* the verdict waits for a session's transaction */
	int			tries;
	int64_t		retry_at;
	bool		done;
} Job;

static Job *jobs[MAX_JOBS];
static int	njobs = 0;

bool
cudal1_jobs_prepare(void (*log) (const char *text), const Cudal1Queue *queue)
{
	cudal1_queue = queue;
	return cudal1_children_prepare(log);
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
		n += !jobs[i]->heat->child.gone;
	return n;
}

int
cudal1_jobs_on_device(const void *device)
{
	int			n = 0;

	for (int i = 0; i < njobs; i++)
	{
		bool		counted = jobs[i]->device != device || jobs[i]->deferred;

		for (int j = 0; j < i && !counted; j++)
			counted = jobs[j]->heat == jobs[i]->heat && !jobs[j]->deferred;
		n += !counted;
	}
	return n;
}

static void
note(const Job *job, const char *what)
{
	char		text[2048];

	snprintf(text, sizeof(text), LABEL ": %s", (long long) job->claim.job_id, what);
	cudal1_log(text);
}

static void
replace(char **text, char *with)
{
	free(*text);
	*text = with;
}

/* why there is no result; NULL for want of memory */
static void set_reason(Job *job, const char *format,...) __attribute__((format(printf, 2, 3)));

static void
set_reason(Job *job, const char *format,...)
{
	va_list		arguments;
	char	   *reason = NULL;

	va_start(arguments, format);
	if (vasprintf(&reason, format, arguments) < 0)
		reason = NULL;
	va_end(arguments);
	replace(&job->reason, reason);
}

/* ---- what the child writes ---- */

/* whether the child still works for this job */
static bool
waits(const Job *job)
{
	return !job->result && job->ending == ENDING_NONE;
}

static bool
any_waits(const Heat *heat)
{
	for (int i = 0; i < njobs; i++)
		if (jobs[i]->heat == heat && waits(jobs[i]))
			return true;
	return false;
}

static void
stop(Job *job, Ending ending, const char *reason)
{
	if (job->ending != ENDING_NONE)
		return;
	job->ending = ending;
	if (reason)
	{
		set_reason(job, "%s", reason);
		note(job, reason);
	}
	if (any_waits(job->heat))
		return;
	job->heat->stop_at = cudal1_clock_ms();
	cudal1_child_signal(&job->heat->child, SIGTERM);
}

/* every job of a child: what went wrong is no single one's */
static void
stop_all(const Heat *heat, const char *reason)
{
	for (int i = 0; i < njobs; i++)
		if (jobs[i]->heat == heat)
			stop(jobs[i], ENDING_LOST, reason);
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

/* the job that a line is about; NULL: none that still waits */
static Job *
find_job(const Heat *heat, int64_t job_id)
{
	for (int i = 0; i < njobs; i++)
		if (jobs[i]->heat == heat && waits(jobs[i])
			&& (jobs[i]->claim.job_id == job_id || (job_id == 0 && heat->jobs == 1)))
			return jobs[i];
	return NULL;
}

static void
take_line(void *owner, char *line, size_t length)
{
	Heat	   *heat = owner;
	Cudal1Message message;
	Job		   *job;

	/* after their results, and after it was told to stop, no line of the child counts */
	if (!any_waits(heat))
		return;
	message = cudal1_message_read(line, length);
	job = message.type == CUDAL1_MESSAGE_RESULT ? find_job(heat, message.job_id) : NULL;
	if (message.type == CUDAL1_MESSAGE_PROGRESS && length <= CUDAL1_MAX_PROGRESS)
	{
		heat->waits_until = message.waiting ? cudal1_clock_ms() + WAITING_MS : 0;
		for (int i = 0; i < njobs; i++)
			if (jobs[i]->heat == heat && waits(jobs[i])
				&& (message.job_id == 0 || message.job_id == jobs[i]->claim.job_id))
				replace(&jobs[i]->progress, strdup(line));
	}
	else if (job && (job->result = strdup(line)) != NULL)
	{
		if (!any_waits(heat))
			heat->stop_at = cudal1_clock_ms();
		if (message.cancelled)
			give_up(job);
	}
	else
		heat->garbage++;
}

/* ends a child that exceeds its limits */
static void
hold_to_limits(Heat *heat, int64_t now)
{
	heat->used_ms += MAX(0, now - MAX(heat->last_poll, heat->waits_until));
	heat->last_poll = now;

	if (heat->child.overlong)
		stop_all(heat, "the measuring program wrote a line that is too long");
	else if (heat->garbage > MAX_GARBAGE)
		stop_all(heat, "the measuring program wrote lines that are not of its protocol");
	else if (any_waits(heat) && heat->used_ms > heat->limit_ms)
		stop_all(heat, "the measuring program did not end in time");

	if (heat->stop_at != 0 && now - heat->stop_at > STOP_MS)
		cudal1_child_signal(&heat->child, SIGKILL);
}

/* ---- calls of the queue ---- */

static bool
beat_is_due(const Job *job, int64_t now)
{
	return job->ending != ENDING_FENCED && cudal1_queue->connected()
		&& now - job->last_beat >= (job->progress ? BEAT_MS : QUIET_BEAT_MS);
}

static Cudal1Call
heartbeat(Job *job, int64_t now)
{
	Cudal1Answer answer;
	Cudal1Call	outcome = cudal1_queue_heartbeat(&job->claim, job->progress, &answer);

	job->last_beat = now;
	/* Progress was sent, or never can be. */
	if (outcome == CUDAL1_CALL_DONE || outcome == CUDAL1_CALL_FAILED)
		replace(&job->progress, NULL);
	if (outcome != CUDAL1_CALL_DONE)
		return outcome;
	if (answer == CUDAL1_ANSWER_LOST)
	{
		/* Losing the claim replaces any other reason to stop. */
		if (job->ending == ENDING_NONE)
			stop(job, ENDING_FENCED, "given to another");
		job->ending = ENDING_FENCED;
	}
	else if (answer == CUDAL1_ANSWER_CANCEL && !job->result)
		stop(job, ENDING_CANCELLED, NULL);
	return outcome;
}

static Cudal1Call
offer(Job *job, Cudal1Answer *answer)
{
	if (job->ending == ENDING_CANCELLED)
		return cudal1_queue_finish(&job->claim, NULL, "cancelled",
								   "cancelled while it was measured", answer);
	if (job->ending == ENDING_NONE && job->result)
		return cudal1_queue_finish(&job->claim, job->result, NULL, NULL, answer);
	if (job->ending == ENDING_NONE && !job->reason)
	{
		set_reason(job, "cudal1-measure %s before it wrote a result",
				   cudal1_child_ending(&job->heat->child));
		note(job, job->reason ? job->reason : "it ended before it wrote a result");
	}
	return cudal1_queue_finish(&job->claim, NULL, "lost", job->reason, answer);
}

/* Takes the queue's answer about one job. */
static void
take_answer(Job *job, Cudal1Call outcome, Cudal1Answer answer)
{
	bool		failed = outcome == CUDAL1_CALL_FAILED;

	job->deferred = outcome == CUDAL1_CALL_DONE && answer == CUDAL1_ANSWER_LATER;
	if (outcome == CUDAL1_CALL_DONE && !job->deferred)
	{
		if (answer == CUDAL1_ANSWER_LOST)
			note(job, "the verdict came too late, another has the job");
		job->done = true;
		return;
	}
	if (failed && job->ending != ENDING_NONE)
	{
		note(job, "the verdict was refused; the job is measured again when its lease ends");
		job->done = true;
		return;
	}
	/* a refused result becomes a lost attempt, which is repeated as often as the profile says */
	if (failed)
	{
		const char *problem = cudal1_queue->problem();

		job->ending = ENDING_LOST;
		set_reason(job, "the result could not be stored: %s",
				   problem ? problem : "no reason given");
	}
	job->tries++;
	/* The clock is read anew, because the call itself may have waited. */
	job->retry_at = cudal1_clock_ms() + MIN(MAX_RETRY_MS, 100L << MIN(job->tries, 8));
}

static Cudal1Call
store_verdict(Job *job, int64_t now)
{
	int			status = job->heat->child.status;
	int			number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	Cudal1Answer answer;
	Cudal1Call	outcome;

	if (waits(job) && !job->given_up
		&& (number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGKILL))
		give_up(job);
	if (job->ending == ENDING_FENCED)
	{
		job->done = true;
		return CUDAL1_CALL_DONE;
	}
	if (!cudal1_queue->connected())
		return CUDAL1_CALL_CUT;
	if (now < job->retry_at)
		return beat_is_due(job, now) ? heartbeat(job, now) : CUDAL1_CALL_DONE;

	outcome = offer(job, &answer);
	if (outcome != CUDAL1_CALL_GONE && outcome != CUDAL1_CALL_CUT)
		take_answer(job, outcome, answer);
	return outcome;
}

static Cudal1Call
advance(Job *job)
{
	int64_t		now = cudal1_clock_ms();

	if (job->done)
		return CUDAL1_CALL_DONE;
	cudal1_child_poll(&job->heat->child);
	/* the child is gone, or works on for others alone */
	if (job->heat->child.gone || (!waits(job) && any_waits(job->heat)))
		return store_verdict(job, now);
	hold_to_limits(job->heat, now);
	return beat_is_due(job, now) ? heartbeat(job, now) : CUDAL1_CALL_DONE;
}

static void
forget(int i)
{
	Job		   *job = jobs[i];

	jobs[i] = jobs[--njobs];
	if (--job->heat->jobs == 0)
	{
		if (!job->heat->child.gone)
			cudal1_child_kill(&job->heat->child);
		cudal1_child_free(&job->heat->child);
		free(job->heat);
	}
	free(job->reason);
	free(job->result);
	free(job->progress);
	free(job);
}

Cudal1Call
cudal1_jobs_poll(int *ended)
{
	*ended = 0;
	for (int i = njobs - 1; i >= 0; i--)
	{
		if (advance(jobs[i]) == CUDAL1_CALL_GONE)
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
	/* without a connection nothing is done for a job whose child is gone */
	bool		any = cudal1_jobs_measuring() > 0 || (njobs > 0 && cudal1_queue->connected());

	return any ? POLL_MS : 3600 * 1000;
}

void
cudal1_jobs_command(char **argv, const char *measure, const char *option, bool unsandboxed,
					const char *scratch, const char *python)
{
	const char *words[] = {measure, option, unsandboxed ? "--allow-unsandboxed" : NULL, "--scratch",
		scratch, python && python[0] ? "--python" : NULL, python && python[0] ? python : NULL};
	int			n = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i])
			argv[n++] = (char *) words[i];
	argv[n] = NULL;
}

static bool
add_job(Heat *heat, void *device, const Cudal1Claim *claim)
{
	Job		   *job = njobs < MAX_JOBS ? calloc(1, sizeof(*job)) : NULL;

	if (!job)
		return false;
	job->heat = heat;
	job->device = device;
	job->claim = *claim;
	/* the first progress is sent at once */
	job->last_beat = cudal1_clock_ms() - BEAT_MS;
	jobs[njobs++] = job;
	heat->jobs++;
	return true;
}

bool
cudal1_jobs_begin(void *device, const Cudal1Heat *claimed, char **argv, const char *scratch,
				  int grace_seconds, const char **problem)
{
	Cudal1Program program = {.argv = argv,.scratch = scratch,.on_line = take_line};
	Cudal1Buffer	input = {0};
	char		label[64];
	Heat	   *heat = calloc(1, sizeof(*heat));
	bool		added = heat != NULL;
	bool		started = false;

	for (int i = 0; i < claimed->n && added; i++)
		added = add_job(heat, device, &claimed->claims[i]);
	cudal1_buffer_append(&input, claimed->job, strlen(claimed->job));
	cudal1_buffer_append(&input, "\n", 1);
	if (!added || input.lost)
		*problem = njobs < MAX_JOBS ? "out of memory" : "too many jobs at once";
	else
	{
		snprintf(label, sizeof(label), LABEL, (long long) claimed->claims[0].job_id);
		heat->last_poll = cudal1_clock_ms();
		heat->limit_ms = ((int64_t) claimed->limit_seconds + grace_seconds) * 1000;
		program.label = label;
		program.input = input.data;
		program.owner = heat;
		started = cudal1_child_start(&heat->child, &program, problem);
	}
	free(input.data);
	if (!started)
	{
		while (njobs > 0 && jobs[njobs - 1]->heat == heat)
			free(jobs[--njobs]);
		free(heat);
		for (int i = 0; i < claimed->n; i++)
			(void) cudal1_queue_release(&claimed->claims[i]);
	}
	return started;
}

void
cudal1_jobs_drop(void)
{
	for (int i = 0; i < njobs; i++)
		cudal1_child_signal(&jobs[i]->heat->child, SIGKILL);
	while (njobs > 0)
		forget(njobs - 1);
}

/* offers the verdict a last time; gives the claim back if it is not stored */
static void
leave_job(Job *job)
{
	Cudal1Answer answer;

	if (!job->heat->child.gone)
		cudal1_child_kill(&job->heat->child);
	if (job->ending != ENDING_FENCED && !job->given_up)
	{
		Cudal1Call	outcome = offer(job, &answer);

		if (outcome == CUDAL1_CALL_DONE && answer != CUDAL1_ANSWER_LATER)
		{
			job->done = true;
			return;
		}
	}
	(void) cudal1_queue_release(&job->claim);
}

void
cudal1_jobs_leave(int grace_ms)
{
	int64_t		until = cudal1_clock_ms() + grace_ms;
	bool		running = true;

	for (int i = 0; i < njobs; i++)
		cudal1_child_signal(&jobs[i]->heat->child, SIGTERM);
	while (running && cudal1_clock_ms() < until)
	{
		struct pollfd ready = {.fd = cudal1_children_epoll(),.events = POLLIN};

		running = false;
		for (int i = 0; i < njobs; i++)
		{
			/* a result that comes now answers the signal, and is no verdict */
			if (!jobs[i]->result && jobs[i]->ending == ENDING_NONE)
				jobs[i]->ending = ENDING_FENCED;
			cudal1_child_poll(&jobs[i]->heat->child);
			running |= !jobs[i]->heat->child.gone;
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
