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
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/wait.h>

#include "supervise.h"
#include "src/message.h"

#define LABEL "cudal1-measure, job %lld"

/* while there are jobs, all that is due by the clock is looked after so often */
#define POLL_MS 250
/* between a heartbeat and the next, with progress and without */
#define BEAT_MS 1000
#define QUIET_BEAT_MS 2000
/* a "waiting" report expires after this time: a child that waits repeats it, a stopped one not */
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

typedef struct Job
{
	struct Heat *heat;
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

/* a child, and its jobs */
typedef struct Heat
{
	Cudal1Child child;
	void	   *device;
	/* the child waits for the device, which does not count as its time */
	int64_t		waits_until;
	int64_t		last_poll;
	int64_t		used_ms;		/* without that */
	int64_t		limit_ms;
	int			garbage;
	int64_t		stop_at;		/* time from which no job waits for it; 0: one does */
	int			njobs;
	Job			jobs[CUDAL1_MAX_HEAT];
	struct Heat *next;
} Heat;

static Heat *heats = NULL;

/* jobs that are not done, and that the queue has not deferred unless `deferred` */
static int
count(const Heat *heat, bool deferred)
{
	int			n = 0;

	for (int i = 0; i < heat->njobs; i++)
		n += !heat->jobs[i].done && (deferred || !heat->jobs[i].deferred);
	return n;
}

int
cudal1_jobs_count(void)
{
	int			n = 0;

	for (Heat *heat = heats; heat; heat = heat->next)
		n += count(heat, true);
	return n;
}

bool
cudal1_jobs_measuring(void)
{
	for (Heat *heat = heats; heat; heat = heat->next)
		if (!heat->child.gone)
			return true;
	return false;
}

int
cudal1_jobs_on_device(const void *device)
{
	int			n = 0;

	for (Heat *heat = heats; heat; heat = heat->next)
		n += heat->device == device && count(heat, false) > 0;
	return n;
}

static void
note(const Job *job, const char *what)
{
	cudal1_log(LABEL ": %s", (long long) job->claim.job_id, what);
}

static void
replace(char **text, char *with)
{
	free(*text);
	*text = with;
}

/* ---- what the child writes ---- */

/* whether the child still works for this job */
static bool
waits(const Job *job)
{
	return !job->result && job->ending == ENDING_NONE && !job->done;
}

static bool
any_waits(const Heat *heat)
{
	for (int i = 0; i < heat->njobs; i++)
		if (waits(&heat->jobs[i]))
			return true;
	return false;
}

static void
stop(Job *job, Ending ending, const char *reason)
{
	if (job->ending != ENDING_NONE || job->done)
		return;
	job->ending = ending;
	if (reason)
	{
		replace(&job->reason, strdup(reason));
		note(job, reason);
	}
	if (any_waits(job->heat))
		return;
	job->heat->stop_at = cudal1_clock_ms();
	cudal1_child_signal(&job->heat->child, SIGTERM);
}

/* every job of a child: what went wrong is no single one's */
static void
stop_all(Heat *heat, const char *reason)
{
	for (int i = 0; i < heat->njobs; i++)
		stop(&heat->jobs[i], ENDING_LOST, reason);
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

static void
take_line(void *owner, char *line, size_t length)
{
	Heat	   *heat = owner;
	Cudal1Message message;
	bool		progress;
	bool		taken = false;

	/* after their results, and after it was told to stop, no line of the child counts */
	if (!any_waits(heat))
		return;
	message = cudal1_message_read(line, length);
	progress = message.type == CUDAL1_MESSAGE_PROGRESS && length <= CUDAL1_MAX_PROGRESS;
	for (int i = 0; i < heat->njobs; i++)
	{
		Job		   *job = &heat->jobs[i];

		/* a line without a number is about all jobs, and only a job by itself has such a result */
		if (!waits(job) || (message.job_id != 0 && message.job_id != job->claim.job_id))
			continue;
		if (progress)
			replace(&job->progress, strdup(line));
		else if (message.type == CUDAL1_MESSAGE_RESULT
				 && (message.job_id != 0 || heat->njobs == 1)
				 && (job->result = strdup(line)) != NULL)
		{
			taken = true;
			if (!any_waits(heat))
				heat->stop_at = cudal1_clock_ms();
			if (message.cancelled)
				give_up(job);
		}
	}
	if (progress)
		heat->waits_until = message.waiting ? cudal1_clock_ms() + WAITING_MS : 0;
	else if (!taken)
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
	return job->ending != ENDING_FENCED && cudal1_connected
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
	char		reason[512];

	if (job->ending == ENDING_CANCELLED)
		return cudal1_queue_finish(&job->claim, NULL, "cancelled",
								   "cancelled while it was measured", answer);
	if (job->ending == ENDING_NONE && job->result)
		return cudal1_queue_finish(&job->claim, job->result, NULL, NULL, answer);
	if (job->ending == ENDING_NONE)
	{
		snprintf(reason, sizeof(reason), "cudal1-measure %s before it wrote a result",
				 cudal1_child_ending(&job->heat->child));
		if (job->tries == 0)
			note(job, reason);
	}
	return cudal1_queue_finish(&job->claim, NULL, "lost",
							   job->ending == ENDING_NONE ? reason : job->reason, answer);
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
		char		reason[sizeof(cudal1_problem) + 64];

		snprintf(reason, sizeof(reason), "the result could not be stored: %s", cudal1_problem);
		job->ending = ENDING_LOST;
		replace(&job->reason, strdup(reason));
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
	if (!cudal1_connected || now < job->retry_at)
		return beat_is_due(job, now) ? heartbeat(job, now) : CUDAL1_CALL_DONE;

	outcome = offer(job, &answer);
	if (outcome != CUDAL1_CALL_GONE && outcome != CUDAL1_CALL_CUT)
		take_answer(job, outcome, answer);
	return outcome;
}

static Cudal1Call
advance(Heat *heat, int *ended)
{
	cudal1_child_poll(&heat->child);
	if (!heat->child.gone)
		hold_to_limits(heat, cudal1_clock_ms());
	for (int i = 0; i < heat->njobs; i++)
	{
		Job		   *job = &heat->jobs[i];
		int64_t		now = cudal1_clock_ms();
		Cudal1Call	outcome = CUDAL1_CALL_DONE;

		if (job->done)
			continue;
		/* the child is gone, or works on for others alone */
		if (heat->child.gone || (!waits(job) && any_waits(heat)))
			outcome = store_verdict(job, now);
		else if (beat_is_due(job, now))
			outcome = heartbeat(job, now);
		if (outcome == CUDAL1_CALL_GONE)
			return outcome;
		*ended += job->done;
	}
	return CUDAL1_CALL_DONE;
}

/* takes a group of jobs out of the list at its place there */
static void
forget(Heat **place)
{
	Heat	   *heat = *place;

	*place = heat->next;
	cudal1_child_end(&heat->child);
	for (int i = 0; i < heat->njobs; i++)
	{
		free(heat->jobs[i].reason);
		free(heat->jobs[i].result);
		free(heat->jobs[i].progress);
	}
	free(heat);
}

Cudal1Call
cudal1_jobs_poll(int *ended)
{
	Heat	  **place = &heats;

	*ended = 0;
	while (*place)
	{
		if (advance(*place, ended) == CUDAL1_CALL_GONE)
			return CUDAL1_CALL_GONE;
		if (count(*place, true) == 0)
			forget(place);
		else
			place = &(*place)->next;
	}
	return CUDAL1_CALL_DONE;
}

int64_t
cudal1_jobs_next_ms(void)
{
	/* without a connection nothing is done for a job whose child is gone */
	return cudal1_jobs_measuring() || (heats && cudal1_connected) ? POLL_MS : 3600 * 1000;
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

bool
cudal1_jobs_begin(void *device, const Cudal1Heat *claimed, char **argv, const char *scratch,
				  int grace_seconds)
{
	int64_t		now = cudal1_clock_ms();
	Heat	   *heat = calloc(1, sizeof(*heat));
	char		label[64];
	Cudal1Program program = {.label = label,.argv = argv,.scratch = scratch,.input = true,
		.on_line = take_line,.owner = heat};

	snprintf(label, sizeof(label), LABEL, (long long) claimed->claims[0].job_id);
	if (!heat || !cudal1_child_start(&heat->child, &program))
	{
		free(heat);
		for (int i = 0; i < claimed->n; i++)
			(void) cudal1_queue_release(&claimed->claims[i]);
		return false;
	}
	cudal1_child_send(&heat->child, claimed->job, strlen(claimed->job), false);
	cudal1_child_send(&heat->child, "\n", 1, true);
	heat->device = device;
	heat->last_poll = now;
	heat->limit_ms = ((int64_t) claimed->limit_seconds + grace_seconds) * 1000;
	heat->njobs = claimed->n;
	/* the first progress is sent at once */
	for (int i = 0; i < claimed->n; i++)
		heat->jobs[i] = (Job) {.heat = heat,.claim = claimed->claims[i],.last_beat = now - BEAT_MS};
	heat->next = heats;
	heats = heat;
	return true;
}

static void
signal_all(int number)
{
	for (Heat *heat = heats; heat; heat = heat->next)
		cudal1_child_signal(&heat->child, number);
}

void
cudal1_jobs_drop(void)
{
	signal_all(SIGKILL);
	while (heats)
		forget(&heats);
}

void
cudal1_jobs_leave(int grace_ms)
{
	int64_t		until = cudal1_clock_ms() + grace_ms;
	Cudal1Answer answer;

	signal_all(SIGTERM);
	/* a result that comes from now on answers the signal, and is no verdict */
	for (Heat *heat = heats; heat; heat = heat->next)
		for (int i = 0; i < heat->njobs; i++)
			if (waits(&heat->jobs[i]))
				heat->jobs[i].ending = ENDING_FENCED;
	while (cudal1_jobs_measuring() && cudal1_clock_ms() < until)
	{
		struct pollfd ready = {.fd = cudal1_children_epoll,.events = POLLIN};

		(void) poll(&ready, 1, 10);
		for (Heat *heat = heats; heat; heat = heat->next)
			cudal1_child_poll(&heat->child);
	}
	signal_all(SIGKILL);
	while (heats)
	{
		cudal1_child_end(&heats->child);
		for (int i = 0; i < heats->njobs; i++)
		{
			Job		   *job = &heats->jobs[i];

			/* the verdict is offered a last time; the claim is given back if it is not stored */
			if (!job->done && (job->ending == ENDING_FENCED || job->given_up
							   || offer(job, &answer) != CUDAL1_CALL_DONE
							   || answer == CUDAL1_ANSWER_LATER))
				(void) cudal1_queue_release(&job->claim);
		}
		forget(&heats);
	}
}
