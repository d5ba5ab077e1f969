/*
 * generate.c
 *		Supervision of cudal1-generate.
 *
 * The worker carries lines between the program and the queue of requests, and reads none of them.
 * The queue makes the lines of jobs, of cancellations and of stored answers; the program makes
 * those of answers.  The worker counts no requests in flight: each claim asks the database, which
 * can't be wrong about them.
 *
 * The program keeps each answer in a file until the worker says that the answer is stored.  Each
 * database and extension has a directory of its own for these files.  A new program first reports
 * the answers that it finds there, and then says that it is ready.  The worker claims requests only
 * after that, so an answer that survived a crash is stored before its request could be sent again.
 */
#include "postgres.h"

#include <signal.h>
#include <sys/stat.h>

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "entry.h"
#include "generate.h"
#include "settings.h"
#include "shared.h"

#define LOOK_MS 20				/* looks at answers and campaigns are at least this far apart */
#define FILL_MS 20				/* claims are at least this far apart, because each is a commit */
#define CANCEL_MS 1000			/* a cancellation reaches the program within this time */
#define WAIT_MS 1000			/* waiting requests are looked at again after this time */
#define RESTART_MS 1000
#define MAX_RESTART_MS 60000
#define STOP_MS 5000
/* an answer whose request a session is changing is offered again after this time */
#define LEFT_OVER_MS 1000
/* an answer of 4 MiB in which every byte is escaped */
#define MAX_ANSWER_LINE (32 * 1024 * 1024)
#define MAX_GARBAGE 100
#define MAX_BATCH (8 * 1024 * 1024)	/* bytes of answers that one transaction stores */

static const char ready_line[] = "{\"type\": \"ready\"}";

static Cudal1Child child;
static bool started = false;
static bool ready = false;
static bool stopped = false;	/* the worker ended the program, so its end is no failure */
static bool stop_killed = false;
static int64 stop_at = 0;
static char *settings_in_use = NULL;
/* lines of answers that are not stored yet; made when the program first starts */
static StringInfoData pending;
static StringInfoData left_over;	/* lines whose request a session is changing */
static int64 left_over_at = 0;
static int	garbage = 0;
static int	failures = 0;
static char problem[CUDAL1_NOTE_SIZE];	/* why no program runs; empty: none is wanted, or it runs */
static int64 restart_at = 0;
static int64 retry_at = 0;
static int	tries = 0;
static int64 look_at = 0;
static bool look_wanted = false;
static int64 fill_at = 0;
static bool fill_wanted = false;
static int64 due_at = -1;		/* time of the next look at waiting requests; -1: none waits */
static int64 cancel_at = 0;
static bool cancel_wanted = false;

static void
take_line(void *owner, char *line, size_t length)
{
	bool		good = line[0] == '{';

	if (length == sizeof(ready_line) - 1 && memcmp(line, ready_line, length) == 0)
	{
		ready = true;
		problem[0] = '\0';
		fill_wanted = true;
		return;
	}
	for (size_t i = 0; i < length && good; i++)
		good = line[i] >= 0x20 && line[i] < 0x7f;
	if (!good)
	{
		garbage++;
		return;
	}
	appendBinaryStringInfo(&pending, line, length);
	appendStringInfoChar(&pending, '\n');
}

const char *
cudal1_generate_problem(void)
{
	return problem[0] != '\0' ? problem : NULL;
}

static void
stop(const char *reason)
{
	if (stopped)
		return;
	if (reason != NULL)
	{
		snprintf(problem, sizeof(problem), "cudal1-generate was ended: %s", reason);
		ereport(LOG,
				(errmsg("%s", problem)));
	}
	stopped = true;
	stop_killed = false;
	stop_at = cudal1_clock_ms();
	cudal1_child_signal(&child, SIGTERM);
}

static char *
make_spool(void)
{
	char	   *parent = psprintf("%s/cudal1", DataDir);

	/* for the server's user alone; the program reports a directory that is not there */
	if (mkdir(parent, S_IRWXU) < 0 && errno != EEXIST)
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not create directory \"%s\": %m", parent)));
	return psprintf("%s/%u-%u", parent, MyDatabaseId, cudal1_entry_extension());
}

/* Settings of the running program; a change of them starts another one. */
static char *
settings(void)
{
	return psprintf("%s\n%s", cudal1_key_file, cudal1_ca_file);
}

static void
start(int64 now)
{
	MemoryContext caller = CurrentMemoryContext;
	char	   *argv[8] = {NULL};
	Cudal1Program program = {.label = "cudal1-generate",.argv = argv,
		.scratch = cudal1_settings_scratch(),.pass = "CUDAL1_KEY_",
	.keep_input = true,.on_line = take_line};
	const char *reason;
	int			n = 0;

	argv[n++] = cudal1_settings_generator();
	argv[n++] = "--spool";
	argv[n++] = make_spool();
	if (cudal1_key_file[0] != '\0')
	{
		argv[n++] = "--keys";
		argv[n++] = pstrdup(cudal1_key_file);
	}
	if (cudal1_ca_file[0] != '\0')
	{
		argv[n++] = "--ca";
		argv[n++] = pstrdup(cudal1_ca_file);
	}
	if (pending.data == NULL)
	{
		MemoryContextSwitchTo(TopMemoryContext);
		initStringInfo(&pending);
		initStringInfo(&left_over);
		MemoryContextSwitchTo(caller);
	}
	ready = stopped = false;
	garbage = 0;
	if (!cudal1_child_start(&child, &program, &reason))
	{
		strlcpy(problem, reason, sizeof(problem));
		ereport(LOG,
				(errmsg("cudal1-generate could not be started: %s", reason)));
		failures++;
		restart_at = now + Min(MAX_RESTART_MS, (int64) RESTART_MS << Min(failures - 1, 10));
		return;
	}
	child.max_line = MAX_ANSWER_LINE;
	if (settings_in_use != NULL)
		pfree(settings_in_use);
	settings_in_use = MemoryContextStrdup(TopMemoryContext, settings());
	started = true;
}

/* lines for the program, or NULL */
static void
send_lines(const char *lines)
{
	if (started && lines != NULL)
		cudal1_child_send(&child, lines, strlen(lines));
}

/* stores the first pending lines, at most MAX_BATCH bytes unless one line is longer */
static Cudal1Call
store(int64 now)
{
	Cudal1Call	outcome;
	char	   *columns[2];			/* lines for the program, and answers to be offered again */
	char	   *batch;
	int			length = pending.len;

	if (length > MAX_BATCH)
	{
		length = MAX_BATCH;
		while (length < pending.len && pending.data[length - 1] != '\n')
			length++;
	}
	batch = pnstrdup(pending.data, length);
	outcome = cudal1_entry_run("SELECT f.stored, f.left_over FROM cudal1.finish_requests($1) AS f",
							   1, (const char *const *) &batch, columns, 2);
	if (outcome == CUDAL1_CALL_DONE)
	{
		pending.len -= length;
		memmove(pending.data, pending.data + length, pending.len);
		pending.data[pending.len] = '\0';
		if (columns[1] != NULL)
			appendStringInfoString(&left_over, columns[1]);
		left_over_at = now + LEFT_OVER_MS;
		tries = 0;
		failures = 0;
		send_lines(columns[0]);
		free(columns[0]);
		free(columns[1]);
		fill_wanted = look_wanted = true;
	}
	else if (outcome != CUDAL1_CALL_GONE)
	{
		tries++;
		retry_at = now + Min(10000, 100L << Min(tries, 10));
	}
	pfree(batch);
	return outcome;
}

static void
offer_left_over(void)
{
	appendBinaryStringInfo(&pending, left_over.data, left_over.len);
	resetStringInfo(&left_over);
}

/* tells the program which of the requests in flight are cancelled */
static Cudal1Call
cancel(const char *worker, int64 now)
{
	static const char *const query =
		"SELECT pg_catalog.string_agg(pg_catalog.jsonb_build_object('type', 'cancel',"
		" 'request_id', r.request_id, 'attempt', r.attempt)::text || E'\n', '')"
		" FROM cudal1.request AS r"
		" WHERE r.state = 'running' AND r.worker = $1 AND r.cancel_requested";
	char	   *cancels;
	Cudal1Call	outcome = cudal1_entry_run(query, 1, &worker, &cancels, 1);

	cancel_at = now + CANCEL_MS;
	cancel_wanted = false;
	send_lines(cancels);
	free(cancels);
	return outcome;
}

/* lost: the program died, so it counts against the requests */
static Cudal1Call
release(const char *worker, bool lost)
{
	const char *arguments[] = {worker, lost ? "true" : "false"};

	return cudal1_entry_run("SELECT cudal1.release_requests($1, $2::bool)", 2, arguments, NULL, 0);
}

/* the program has ended: its claims are given back, and its files stay for the next program */
static Cudal1Call
clear(const char *worker, int64 now)
{
	bool		lost = !stopped && child.status != 0;
	Cudal1Call	outcome = release(worker, lost);

	if (outcome != CUDAL1_CALL_DONE)
	{
		retry_at = now + 1000;
		return outcome;
	}
	if (lost)
	{
		snprintf(problem, sizeof(problem), "cudal1-generate %s", cudal1_child_ending(&child));
		ereport(LOG,
				(errmsg("%s", problem)));
		restart_at = now + Min(MAX_RESTART_MS, (int64) RESTART_MS << Min(failures, 10));
		failures++;
	}
	cudal1_child_end(&child);
	started = ready = false;
	fill_wanted = true;
	return outcome;
}

/* claims requests that wait, and sends them to the program; more: others may wait */
static Cudal1Call
claim(const char *worker, bool *more)
{
	/* Twelve at a time: a prompt may have 10 MiB, a byte of it become six, and a text has 1 GB. */
	static const char *const query =
		"SELECT pg_catalog.string_agg(c.job::text || E'\n', ''),"
		" NULLIF(pg_catalog.count(*) = 12, false) FROM cudal1.claim_requests($1,"
		" LEAST(12, $2::int - (SELECT pg_catalog.count(*) FROM cudal1.request AS r"
		" WHERE r.state = 'running' AND r.worker = $1)::int)) AS c";
	Cudal1Number most;
	const char *arguments[] = {worker, cudal1_queue_text(most, cudal1_max_requests)};
	char	   *columns[2];
	Cudal1Call	outcome = cudal1_entry_run(query, 2, arguments, columns, 2);

	send_lines(columns[0]);
	*more = columns[1] != NULL;
	free(columns[0]);
	free(columns[1]);
	return outcome;
}

/* sends as many waiting requests as may be in flight, and starts the program where one waits */
static Cudal1Call
fill(const char *worker, int64 now)
{
	static const char *const query =
		"SELECT pg_catalog.count(*) FROM cudal1.model AS m WHERE m.enabled AND"
		" (SELECT true FROM cudal1.request AS r WHERE r.model_id = m.model_id"
		" AND r.state = 'queued' LIMIT 1)";
	Cudal1Call	outcome;
	int64		waiting;

	fill_wanted = false;
	fill_at = now + FILL_MS;
	due_at = -1;
	if (!cudal1_enabled || cudal1_max_requests == 0)
		return CUDAL1_CALL_DONE;
	/* An answer makes room for the next request. This look is for pauses, rates and failures. */
	due_at = now + WAIT_MS;
	if (ready && !stopped)
	{
		outcome = claim(worker, &fill_wanted);
		if (outcome != CUDAL1_CALL_DONE || fill_wanted)
			return outcome;
	}
	outcome = cudal1_queue_number(query, 0, NULL, &waiting);
	if (outcome != CUDAL1_CALL_DONE)
		return outcome;
	if (waiting == 0)
		due_at = -1;
	if (waiting == 0 && !started)
		problem[0] = '\0';
	if (waiting > 0 && !started && now >= restart_at)
		start(now);
	if (waiting > 0 && !started)
		due_at = restart_at;
	return CUDAL1_CALL_DONE;
}

/* makes candidates of some answers, and advances campaigns a step: fill() may be due in between */
static Cudal1Call
advance(int64 now)
{
	Cudal1Call	outcome;
	int64		steps = 0;

	look_wanted = false;
	look_at = now + LOOK_MS;
	outcome = cudal1_queue_number("SELECT cudal1.take_answers(16)", 0, NULL, &steps);
	if (outcome == CUDAL1_CALL_DONE && cudal1_enabled)
	{
		int64		advanced = 0;

		outcome = cudal1_queue_number("SELECT cudal1.advance_campaigns(16)", 0, NULL, &advanced);
		steps += advanced;
	}
	/* there may be more to do, after a look at everything else */
	look_wanted |= steps > 0;
	fill_wanted |= steps > 0;
	return outcome;
}

static void
hold_to_limits(int64 now)
{
	if (child.overlong)
		stop("it wrote a line that is too long");
	else if (garbage > MAX_GARBAGE)
		stop("it wrote lines that are not of its protocol");
	else if (strcmp(settings_in_use, settings()) != 0)
		stop(NULL);
	if (stopped && !stop_killed && now - stop_at > STOP_MS)
	{
		stop_killed = true;
		cudal1_child_signal(&child, SIGKILL);
	}
}

Cudal1Call
cudal1_generate_poll(const char *worker, bool look)
{
	int64		now = cudal1_clock_ms();
	Cudal1Call	outcome = CUDAL1_CALL_DONE;

	look_wanted |= look;
	fill_wanted |= look;
	cancel_wanted |= look;
	if (started && !child.gone)
	{
		cudal1_child_poll(&child);
		hold_to_limits(now);
	}
	if (left_over.len > 0 && now >= left_over_at)
		offer_left_over();
	if (pending.len > 0 && now >= retry_at)
		outcome = store(now);
	if (outcome != CUDAL1_CALL_GONE && started && child.gone && pending.len == 0 && now >= retry_at)
		outcome = clear(worker, now);
	if (outcome != CUDAL1_CALL_GONE && started && !child.gone && cancel_wanted && now >= cancel_at)
		outcome = cancel(worker, now);
	/* requests are claimed only after all answers are stored */
	if (outcome != CUDAL1_CALL_GONE && pending.len == 0)
	{
		if (now >= fill_at && (fill_wanted || (due_at >= 0 && now >= due_at)))
			outcome = fill(worker, now);
		if (outcome != CUDAL1_CALL_GONE && now >= look_at && look_wanted)
			outcome = advance(now);
	}
	return outcome;
}

long
cudal1_generate_next_ms(void)
{
	int64		now = cudal1_clock_ms();
	int64		next = now + 3600 * 1000;

	if (pending.len > 0)
		return Max(1, retry_at - now);
	if (left_over.len > 0)
		next = Min(next, left_over_at);
	if (started)
	{
		if (cancel_wanted)
			next = Min(next, cancel_at);
		if (stopped && !stop_killed)
			next = Min(next, stop_at + STOP_MS + 1);
		if (child.gone)
			next = Min(next, retry_at);
	}
	if (look_wanted)
		next = Min(next, look_at);
	if (fill_wanted)
		next = Min(next, fill_at);
	else if (due_at >= 0)
		next = Min(next, Max(due_at, fill_at));
	return Max(1, next - now);
}

void
cudal1_generate_drop(void)
{
	if (started)
		cudal1_child_end(&child);
	started = ready = false;
	if (pending.data != NULL)
	{
		resetStringInfo(&pending);
		resetStringInfo(&left_over);
	}
	problem[0] = '\0';
	due_at = -1;
	tries = failures = 0;
	restart_at = retry_at = look_at = fill_at = 0;
	look_wanted = fill_wanted = true;
}

void
cudal1_generate_leave(const char *worker)
{
	if (!started)
		return;
	/* answers that the program has not written to its pipe yet stay in its spool */
	cudal1_child_poll(&child);
	cudal1_child_signal(&child, SIGKILL);
	for (int i = 0; i < 100 && !child.gone; i++)
	{
		cudal1_child_poll(&child);
		if (!child.gone)
			pg_usleep(10000);
	}
	offer_left_over();
	if (pending.len > 0)
		(void) store(cudal1_clock_ms());
	(void) release(worker, false);
	cudal1_generate_drop();
}
