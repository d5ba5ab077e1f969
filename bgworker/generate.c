/*
 * generate.c
 *		Supervision of cudal1-generate.
 *
 * README.md has how an answer survives each crash. The worker reads no line that it carries, and
 * counts no requests in flight: each claim asks the database, which can't be wrong about them. Each
 * database and extension has a directory of its own for the files of answers.
 */
#include "postgres.h"

#include <signal.h>
#include <sys/stat.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "settings.h"
#include "shared.h"
#include "worker.h"

#define LOOK_MS 20				/* looks are so far apart at least, because each commits */
#define WAIT_MS 1000			/* from a look at waiting requests, or a failed call, to the next */
#define STOP_MS 5000
/* an answer of 4 MiB in which every byte is escaped */
#define MAX_ANSWER_LINE (32 * 1024 * 1024)
#define MAX_GARBAGE 100
#define MAX_BATCH (8 * 1024 * 1024)	/* bytes of answers that one transaction stores */

static const char ready_line[] = "{\"type\": \"ready\"}";

static Cudal1Child child;
static bool started = false;
static bool ready = false;
static bool stopped = false;	/* the worker ended the program, so its end is no failure */
static int64 stop_at = 0;
static char *settings_in_use = NULL;
static Cudal1Buffer pending;	/* lines of answers that are not stored yet */
static Cudal1Buffer left_over;	/* lines whose request a session is changing: offered again */
static int64 left_over_at = 0;
static int	garbage = 0;
static int	failures = 0;
char		cudal1_generate_problem[CUDAL1_NOTE_SIZE];
static int64 restart_at = 0;
static int64 retry_at = 0;
static int64 look_at = 0;
static bool look_wanted = false;
static int64 due_at = -1;		/* time of the next look if none is wanted; -1: no request waits */

static void
take_line(void *owner, char *line, size_t length)
{
	bool		good = line[0] == '{';

	if (length == sizeof(ready_line) - 1 && memcmp(line, ready_line, length) == 0)
	{
		ready = true;
		cudal1_generate_problem[0] = '\0';
		look_wanted = true;
		return;
	}
	for (size_t i = 0; i < length && good; i++)
		good = line[i] >= 0x20 && line[i] < 0x7f;
	if (!good)
	{
		garbage++;
		return;
	}
	cudal1_buffer_append(&pending, line, length);
	cudal1_buffer_append(&pending, "\n", 1);
}

/* the program did not start, or has died; another one is started after a pause */
static void
note_failure(const char *text, int64 now)
{
	cudal1_note_problem(cudal1_generate_problem, text);
	failures++;
	restart_at = now + cudal1_backoff_ms(failures);
}

static void
stop(const char *reason)
{
	if (stopped)
		return;
	if (reason != NULL)
		cudal1_note_problem(cudal1_generate_problem,
							psprintf("cudal1-generate was ended: %s", reason));
	stopped = true;
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
	return psprintf("%s/%u-%u", parent, MyDatabaseId, cudal1_extension);
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
	char	   *argv[8] = {NULL};
	Cudal1Program program = {.label = "cudal1-generate",.argv = argv,
		.scratch = cudal1_settings_scratch(),.pass = "CUDAL1_KEY_",
	.input = true,.on_line = take_line};
	int			n = 0;

	argv[n++] = cudal1_settings_program(cudal1_generate_path, "cudal1-generate");
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
	ready = stopped = false;
	garbage = 0;
	if (!cudal1_child_start(&child, &program))
	{
		note_failure(cudal1_problem, now);
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
		cudal1_child_send(&child, lines, strlen(lines), false);
}

/* stores the first pending lines, at most MAX_BATCH bytes unless one line is longer */
static Cudal1Call
store(int64 now)
{
	Cudal1Call	outcome;
	char	   *columns[2];			/* lines for the program, and answers to be offered again */
	char	   *batch;
	int			length = pending.length;

	if (length > MAX_BATCH)
	{
		length = MAX_BATCH;
		while (length < pending.length && pending.data[length - 1] != '\n')
			length++;
	}
	batch = pnstrdup(pending.data, length);
	outcome = cudal1_queue_run("SELECT f.stored, f.left_over FROM cudal1.finish_requests($1) AS f",
							   1, (const char *const *) &batch, columns, 2);
	if (outcome == CUDAL1_CALL_DONE)
	{
		pending.length -= length;
		memmove(pending.data, pending.data + length, pending.length);
		pending.data[pending.length] = '\0';
		if (columns[1] != NULL)
			cudal1_buffer_append(&left_over, columns[1], strlen(columns[1]));
		left_over_at = now + WAIT_MS;
		failures = 0;
		send_lines(columns[0]);
		free(columns[0]);
		free(columns[1]);
		look_wanted = true;
	}
	else
		retry_at = now + WAIT_MS;
	pfree(batch);
	return outcome;
}

static void
offer_left_over(void)
{
	cudal1_buffer_append(&pending, left_over.data, left_over.length);
	left_over.length = 0;
}

/* lost: the program died, so it counts against the requests */
static Cudal1Call
release(const char *worker, bool lost)
{
	const char *arguments[] = {worker, lost ? "true" : "false"};

	return cudal1_queue_run("SELECT cudal1.release_requests($1, $2::bool)", 2, arguments, NULL, 0);
}

/* the program has ended: its claims are given back, and its files stay for the next program */
static Cudal1Call
clear(const char *worker, int64 now)
{
	bool		lost = !stopped && child.status != 0;
	Cudal1Call	outcome = release(worker, lost);

	if (outcome != CUDAL1_CALL_DONE)
	{
		retry_at = now + WAIT_MS;
		return outcome;
	}
	if (lost)
		note_failure(psprintf("cudal1-generate %s", cudal1_child_ending(&child)), now);
	cudal1_child_end(&child);
	started = ready = false;
	look_wanted = true;
	return outcome;
}

/*
 * Sends the program which of the requests in flight are cancelled, and claims others while there
 * are less than `most`; more: others may wait.
 */
static Cudal1Call
claim(const char *worker, int most, bool *more)
{
	/* Twelve at a time: a prompt may have 10 MiB, a byte of it become six, and a text has 1 GB. */
	static const char *const query =
		"WITH flight AS (SELECT r.request_id, r.attempt, r.cancel_requested"
		" FROM cudal1.request AS r WHERE r.state = 'running' AND r.worker = $1)"
		" SELECT pg_catalog.concat((SELECT pg_catalog.string_agg(pg_catalog.jsonb_build_object("
		"'type', 'cancel', 'request_id', f.request_id, 'attempt', f.attempt)::text"
		" || E'\n', '')"
		" FROM flight AS f WHERE f.cancel_requested),"
		" pg_catalog.string_agg(c.job::text || E'\n', '')),"
		" NULLIF(pg_catalog.count(*) = 12, false) FROM cudal1.claim_requests($1,"
		" LEAST(12, $2::int - (SELECT pg_catalog.count(*) FROM flight)::int)) AS c";
	Cudal1Number number;
	const char *arguments[] = {worker, cudal1_queue_text(number, most)};
	char	   *columns[2];
	Cudal1Call	outcome = cudal1_queue_run(query, 2, arguments, columns, 2);

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
	int			most = cudal1_enabled ? cudal1_max_requests : 0;
	Cudal1Call	outcome = CUDAL1_CALL_DONE;
	int64		waiting;

	/* An answer makes room for the next request. This look is for pauses, rates and failures. */
	due_at = most > 0 ? now + WAIT_MS : -1;
	if (ready && !stopped)
		outcome = claim(worker, most, &look_wanted);
	if (outcome != CUDAL1_CALL_DONE || look_wanted || most == 0)
		return outcome;
	outcome = cudal1_queue_number(query, 0, NULL, &waiting);
	if (outcome != CUDAL1_CALL_DONE)
		return outcome;
	if (waiting == 0)
		due_at = -1;
	if (waiting == 0 && !started)
		cudal1_generate_problem[0] = '\0';
	if (waiting > 0 && !started && now >= restart_at)
		start(now);
	return CUDAL1_CALL_DONE;
}

/* makes candidates of some answers, and advances campaigns a step */
static Cudal1Call
advance(void)
{
	Cudal1Call	outcome;
	int64		steps = 0;

	outcome = cudal1_queue_number("SELECT cudal1.take_answers(16)", 0, NULL, &steps);
	if (outcome == CUDAL1_CALL_DONE && cudal1_enabled)
	{
		int64		advanced = 0;

		outcome = cudal1_queue_number("SELECT cudal1.advance_campaigns(16)", 0, NULL, &advanced);
		steps += advanced;
	}
	/* there may be more to do, after a look at everything else */
	look_wanted |= steps > 0;
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
	if (stopped && now - stop_at > STOP_MS)
		cudal1_child_signal(&child, SIGKILL);
}

Cudal1Call
cudal1_generate_poll(const char *worker, bool look)
{
	int64		now = cudal1_clock_ms();
	Cudal1Call	outcome = CUDAL1_CALL_DONE;

	look_wanted |= look;
	if (started && !child.gone)
	{
		cudal1_child_poll(&child);
		hold_to_limits(now);
	}
	if (pending.lost || left_over.lost)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	if (left_over.length > 0 && now >= left_over_at)
		offer_left_over();
	if (pending.length > 0 && now >= retry_at)
		outcome = store(now);
	if (outcome != CUDAL1_CALL_GONE && started && child.gone && pending.length == 0 &&
		now >= retry_at)
		outcome = clear(worker, now);
	/* requests are claimed only after all answers are stored */
	if (outcome != CUDAL1_CALL_GONE && pending.length == 0 && now >= look_at &&
		(look_wanted || (due_at >= 0 && now >= due_at)))
	{
		look_wanted = false;
		look_at = now + LOOK_MS;
		outcome = fill(worker, now);
		if (outcome != CUDAL1_CALL_GONE)
			outcome = advance();
	}
	return outcome;
}

long
cudal1_generate_next_ms(void)
{
	return look_wanted && pending.length == 0 ? LOOK_MS : WAIT_MS;
}

void
cudal1_generate_drop(void)
{
	if (started)
		cudal1_child_end(&child);
	started = ready = false;
	pending.length = left_over.length = 0;
	cudal1_generate_problem[0] = '\0';
	due_at = -1;
	failures = 0;
	restart_at = retry_at = look_at = 0;
	look_wanted = true;
}

void
cudal1_generate_leave(const char *worker)
{
	if (!started)
		return;
	/* answers that are not in its pipe yet stay in its spool */
	cudal1_child_poll(&child);
	offer_left_over();
	if (pending.length > 0)
		(void) store(cudal1_clock_ms());
	(void) release(worker, false);
	cudal1_generate_drop();
}
