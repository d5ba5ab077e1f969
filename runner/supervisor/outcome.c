/*
 * outcome.c
 *		How a measurement ends, and what is told of it on the way.
 */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "supervisor/backend.h"

#define PROGRESS_SECONDS	0.5		/* between lines of progress, unless one is forced */
#define ECC_ERROR	"uncorrectable ECC error"	/* as driver and runtime call it */
/* code that an interpreter could not read */
#define SYNTAX		"^(SyntaxError|IndentationError|TabError)"
/* memory that was asked for in vain, by PyTorch and NumPy; lines after the first may be code's */
#define SHORTAGE	"out of memory|^[^\n]*(can't allocate memory|MemoryError|std::bad_alloc)"

void
measure_leave_out(char *text, const char *folder)
{
	size_t		length = strlen(folder);
	char	   *at = text;

	while (length > 0 && (at = strstr(at, folder)) != NULL)
	{
		size_t		skip = length + (at[length] == '/');

		memmove(at, at + skip, strlen(at + skip) + 1);
	}
}

bool
conclude(Measure *m, Outcome outcome, const char *format,...)
{
	char		text[4096] = "";

	if (m->result->outcome != OUTCOME_NONE)
		return false;
	if (format)
	{
		va_list		arguments;

		va_start(arguments, format);
		vsnprintf(text, sizeof(text), format, arguments);
		va_end(arguments);
		measure_leave_out(text, m->scratch);
	}
	if (m->group.shares && outcome != OUTCOME_CANCELLED
		&& (m->member == &m->all || outcome == OUTCOME_UNVERIFIED || outcome == OUTCOME_LOST))
	{
		m->group.dissolved = true;
		return false;
	}
	m->result->outcome = outcome;
	if (format)
		text_clean(m->result->detail, sizeof(m->result->detail), text, strlen(text));
	return false;
}

void
measure_cause(Measure *m, Side side, const char *cause)
{
	if (side == SIDE_CANDIDATE && m->result->outcome == OUTCOME_NONE
		&& !json_object_get(m->result->evidence, "cause"))
		json_object_set_new(m->result->evidence, "cause", json_string(cause));
}

bool
measure_hoarded(Measure *m)
{
	measure_cause(m, SIDE_CANDIDATE, "memory_limit");
	return conclude(m, OUTCOME_CRASH, "the code holds so much of the GPU's memory that too little "
					"is left for the reference");
}

static const char *
signal_text(int number)
{
	static char text[80];

	switch (number)
	{
		case SIGSYS:
			return "a forbidden system call (processes, signals and sockets are closed to "
				"candidates)";
		case SIGKILL:
			return "SIGKILL, perhaps for want of memory";
		default:
			snprintf(text, sizeof(text), "SIG%s, %s", sigabbrev_np(number) ?: "?",
					 sigdescr_np(number) ?: "?");
			return text;
	}
}

/* the signal that ended a process, 0: none did */
static int
signal_of(const Executor *executor)
{
	int			status = executor->wait_status;

	return status >= 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/*
 * whether it was ended from outside: by a person, the kernel short of memory, or a batch system
 * that ends all processes of a job, us a moment later than the code
 */
static bool
is_killed(const Executor *executor, ExecutorResult result)
{
	int			number = signal_of(executor);

	return result == EXECUTOR_ENDED && (number == SIGKILL || number == SIGTERM || number == SIGINT
										|| number == SIGHUP);
}

bool
measure_failed(Measure *m, Side side, Executor *executor, ExecutorResult result, const char *when)
{
	char		log[900] = "";
	struct stat st = {.st_size = 0};
	const char *who = name_of_side(side);
	Outcome		crash = outcome_of(side, OUTCOME_CRASH);
	int			number = signal_of(executor);
	bool		syntax;

	if (result == EXECUTOR_OK)
		return true;
	if (executor_cancelled)
		return conclude(m, OUTCOME_CANCELLED, NULL);
	/* memory of the GPU has failed; a candidate would only say so */
	if (m->backend->apart && side == SIDE_REFERENCE && result == EXECUTOR_FAILED
		&& strstr(executor->text, ECC_ERROR))
	{
		/* once more, and no bad task */
		m->member->killed = true;
		return conclude(m, OUTCOME_UNVERIFIED, "the GPU fails %s: %s", when, executor->text);
	}
	/* any of them may be the cause */
	if (m->group.shares && (result == EXECUTOR_AWAKE || result == EXECUTOR_TIMEOUT
					  || is_killed(executor, result)))
	{
		m->group.dissolved = true;
		return false;
	}
	/* mates may have left it too little of what all share: memory of host and GPU, threads */
	if (m->group.shares && side == SIDE_CANDIDATE && m->member != &m->all
		&& result != EXECUTOR_FORGED && result != EXECUTOR_BROKEN)
	{
		m->member->by_itself = true;
		return false;
	}
	log_read(executor->log_fd, false, log, sizeof(log));
	if (executor->log_fd >= 0)
		fstat(executor->log_fd, &st);
	if (st.st_size >= OUTPUT_LIMIT
		&& (result == EXECUTOR_ENDED || (result == EXECUTOR_FAILED && side == SIDE_CANDIDATE)))
	{
		measure_cause(m, side, "printed");
		return conclude(m, crash, "%s printed more than %d MiB %s", who,
						(int) (OUTPUT_LIMIT >> 20), when);
	}
	switch (result)
	{
		case EXECUTOR_FAILED:
			/* The reference had enough memory alone, so what others hold has failed it. */
			if (m->backend->apart && side == SIDE_REFERENCE && m->live.candidates > 0
				&& strstr(executor->text, "out of memory"))
				return measure_hoarded(m);
			syntax = text_matches(executor->text, SYNTAX, false);
			measure_cause(m, side, syntax ? "syntax" : text_matches(executor->text, SHORTAGE, false)
						  ? "memory_limit" : "exception");
			return conclude(m, outcome_of(side, syntax ? OUTCOME_COMPILE_ERROR
										  : OUTCOME_LAUNCH_FAILURE), "%s fails %s: %s", who, when,
							executor->text);
		case EXECUTOR_FAULTED:
			measure_cause(m, side, "kernel_fault");
			return conclude(m, crash, "%s: a kernel failed %s: %s", who, when, executor->text);
		case EXECUTOR_UNSUPPORTED:
			measure_cause(m, side, "unsupported");
			return conclude(m, outcome_of(side, OUTCOME_LAUNCH_FAILURE), "%s: %s", who,
							executor->text);
		case EXECUTOR_TIMEOUT:
			m->member->killed = executor->last.halted;
			measure_cause(m, side, strstr(when, "loaded") ? "slow_load"
						  : executor->met ? "slow_run" : "slow_first");
			return conclude(m, outcome_of(side, OUTCOME_TIMEOUT),
							"%s did not end within its limit of %.3g s %s%s%s", who,
							executor->last.limit, when, log[0] ? "; it printed: " : "", log);
		case EXECUTOR_ENDED:
			m->member->killed = is_killed(executor, result);
			measure_cause(m, side, number == 0 ? "exit"
						  : number == SIGSEGV || number == SIGBUS ? "segfault"
						  : number == SIGSYS ? "forbidden_call" : "signal");
			if (number > 0)
				return conclude(m, crash, "%s ended by %s %s%s%s", who, signal_text(number), when,
								log[0] ? "; it printed: " : "", log);
			return conclude(m, crash, "%s ended its process (status %d) %s%s%s", who,
							executor->wait_status >= 0 ? WEXITSTATUS(executor->wait_status) : -1,
							when, log[0] ? "; it printed: " : "", log);
		case EXECUTOR_FORGED:
			measure_detector(m, "protocol");
			return conclude(m, outcome_of(side, OUTCOME_CHEAT),
							"%s interfered with the measurement %s", who, when);
		case EXECUTOR_AWAKE:
			measure_detector(m, "awake");
			side = executor->intruder ? SIDE_CANDIDATE : SIDE_REFERENCE;
			return conclude(m, outcome_of(side, OUTCOME_CHEAT), "%s had itself woken: it was at "
							"work while it was stopped, outside its turn", name_of_side(side));
		case EXECUTOR_OK:
		case EXECUTOR_BROKEN:
			break;
	}
	return conclude(m, OUTCOME_LOST, "an executor could not be started or reached %s: %s%s%s", when,
					strerror(errno), log[0] ? "; it printed: " : "", log);
}

static double last_progress;

bool
measure_progress_due(void)
{
	return clock_now() - last_progress >= PROGRESS_SECONDS;
}

void
measure_progress(Measure *m, const char *phase, bool force)
{
	const Stop *stop = &m->result->stop;
	int			pairs = (int) stop->ratios.n;
	int			rounds = m->result->rounds;
	double		left = m->result->outcome == OUTCOME_NONE ? stop->left : 0;

	if (!force && !measure_progress_due())
		return;
	last_progress = clock_now();
	if (m->options->person)
	{
		/* a line that wraps would leave its first rows behind */
		fprintf(stderr, "\r\033[K\033[?7l%-11s", phase);
		if (m->device.held_by[0])
			fprintf(stderr, " held by %s", m->device.held_by);
		if (pairs > 0)
			fprintf(stderr, " %d pair%s, %d rounds, %.3fx", pairs, pairs == 1 ? "" : "s", rounds,
					stop->estimate);
		if (pairs > 0 && isfinite(stop->lower))
			fprintf(stderr, " (%.3f to %.3f)", stop->lower, stop->upper);
		if (pairs > 0)
			fprintf(stderr, ", %.0f s left", left);
		fputs("\033[?7h", stderr);
		return;
	}
	if (!m->options->lines)
		return;
	printf("{\"type\": \"progress\", \"phase\": \"%s\", \"pairs\": %d, \"rounds\": %d", phase,
		   pairs, rounds);
	if (m->nmembers > 1 && m->member != &m->all)
		printf(", \"job_id\": %lld", (long long) m->job->candidate[m->member->number].job_id);
	if (pairs > 0)
		printf(", \"estimate\": %.6g, \"seconds_left\": %.3g", stop->estimate, left);
	if (pairs > 0 && isfinite(stop->lower))
		printf(", \"lower\": %.6g, \"upper\": %.6g", stop->lower, stop->upper);
	if (m->device.held_by[0])
		printf(", \"held_by\": \"%s\"", m->device.held_by);
	printf("}\n");
	fflush(stdout);
}

void
measure_spent(Measure *m, Spending on, double start)
{
	m->result->spent[on] += clock_now() - start;
}
