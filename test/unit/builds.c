/*
 * builds.c
 *		Builds of a job's candidates that compile themselves: their order, and verdicts.
 */
#define _GNU_SOURCE
#include "../../runner/common/text.c"
#include "../../runner/supervisor/build/build.c"
#include "../../runner/supervisor/build/build_interpreter.c"
#include "../../runner/supervisor/build/build_jit.c"
#include "../../runner/supervisor/heat.c"
#include "../../runner/supervisor/outcome.c"

#include "tap.h"

#define MOST		64
#define KILLED		(128 + SIGKILL)
#define RAISED		1			/* the code raised an error */
#define TOO_LONG	(-1)

/* interpreters that were started with the device, in order; the reference is member -1 */
static struct
{
	int			member;
	int			go;
	bool		ended;
}			started[MOST];
static int	nstarted;

static Measure m;
static Job	job;

static void
needs_nothing(Measure *of, Interpreter *i, Sandbox *sandbox, InterpreterUse use)
{
}

static const Backend backend = {.builds.interpreter = needs_nothing};
static int	status_of[HEAT_MAX];	/* of a member's build */
static const char *error_of[HEAT_MAX];
static int	builds_of[1 + HEAT_MAX];	/* how many there were, of the reference last */
static int	kept;
static int	most_running;
static int	most_ready;
static int	going_early;	/* before the device is held */
static int	unasked;		/* builds that were waited for and had not begun */
static double seconds = 1;		/* the clock */

volatile sig_atomic_t executor_cancelled;

static bool
is_going(int i)
{
	char		byte;

	return !started[i].ended && recv(started[i].go, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

pid_t
sandbox_start(const Sandbox *sandbox)
{
	int			i = nstarted++;

	started[i].member = m.member == &m.all ? -1 : (int) (m.member - m.members);
	started[i].go = dup(sandbox->fds[sandbox->nfds - 1]);
	started[i].ended = false;
	return 1 + i;
}

bool
sandbox_wait(pid_t pid, double most, int *status)
{
	int			running = 0;
	int			ready = 0;
	int			member = started[pid - 1].member;

	builds_of[member < 0 ? HEAT_MAX : member]++;
	for (int i = 0; i < nstarted; i++)
	{
		ready += !started[i].ended;
		running += is_going(i);
	}
	most_running = running > most_running ? running : most_running;
	most_ready = ready > most_ready ? ready : most_ready;
	unasked += !is_going(pid - 1);
	*status = member < 0 ? 0 : status_of[member];
	seconds += *status == TOO_LONG ? job.profile.build_seconds : 1;
	started[pid - 1].ended = *status != TOO_LONG;
	*status = *status < 0 ? 0 : *status << 8;
	return started[pid - 1].ended;
}

void
sandbox_end(pid_t pid)
{
	if (pid > 0)
		started[pid - 1].ended = true;
}

void
log_read(int fd, bool end, char *text, size_t size)
{
	const char *error = error_of[m.member - m.members];

	snprintf(text, size, "%s", error ? error : "");
}

int
clock_gettime(clockid_t id, struct timespec *t)
{
	*t = (struct timespec) {.tv_sec = (time_t) seconds};
	return 0;
}

void
build_cache_keep(Measure *of, Built *built)
{
	kept += !built->in_part;
	free(built->key);
	built->key = NULL;
}

void
remove_tree(const char *path)
{
}

int
log_file(void)
{
	return dup(0);
}

static void
build_heat(int n)
{
	static Options options;

	nstarted = kept = most_running = most_ready = unasked = 0;
	memset(builds_of, 0, sizeof(builds_of));
	memset(&m, 0, sizeof(m));
	options.python = "/usr/bin/python3";
	options.libdir = "";
	job.reference = "import triton";
	job.profile.build_seconds = 10;
	m.job = &job;
	m.options = &options;
	m.backend = &backend;
	m.device.locked_at = seconds;
	for (int i = 0; i < n; i++)
		job.candidate[i].code = "import triton";
	heat_init(&m, 0, n);
	m.reference.kinds = m.builds.kinds = 1u << BUILT_TRITON;
	/* of one candidate, the reference's was kept */
	m.reference.built.key = n > 1 ? strdup("reference") : NULL;
	for (int i = 0; i < n; i++)
	{
		m.members[i].code.kinds = m.builds.kinds;
		m.members[i].code.built.key = strdup("candidate");
	}
	build_start_on_device(&m, 0);
	going_early = 0;
	for (int i = 0; i < nstarted; i++)
		going_early += started[i].ended || is_going(i);
	build_on_device(&m);
	heat_share(&m);
}

static void
end_heat(void)
{
	build_end(&m);
	heat_free(&m);
	for (int i = 0; i < nstarted; i++)
		close(started[i].go);
	memset(status_of, 0, sizeof(status_of));
	memset(error_of, 0, sizeof(error_of));
}

int
main(void)
{
	double		spent = 0;
	double		held = 0;

	build_heat(8);
	check(most_running == 1 && kept == 9 && unasked == 0,
		  "builds follow each other, the reference's before those of candidates");
	check(going_early == 0 && started[0].member == -1, "none begins before the device is held");
	check(most_ready == READY, "while the interpreters of others start");
	for (int i = 0; i < 8; i++)
	{
		spent += m.members[i].result.spent[SPENT_BUILD];
		held += m.members[i].result.device_seconds;
	}
	check(near(spent, 9, 1e-9) && near(held, 9, 1e-9)
		  && near(m.members[7].result.device_seconds, 1 + 1.0 / 8, 1e-9),
		  "and each has the seconds of its own, and a part of the reference's");
	end_heat();

	status_of[0] = BUILD_FAILED;
	status_of[1] = TOO_LONG;
	status_of[2] = KILLED;
	status_of[3] = RAISED;
	error_of[3] = "TypeError: no such argument";
	build_heat(5);
	check(m.members[0].result.outcome == OUTCOME_COMPILE_ERROR
		  && m.members[1].result.outcome == OUTCOME_COMPILE_ERROR && builds_of[0] == 1,
		  "what a compiler refuses, or takes too long for, has its verdict");
	check(m.members[2].killed && m.members[2].result.outcome == OUTCOME_COMPILE_ERROR
		  && !m.members[0].killed && !m.members[3].killed,
		  "what may have lacked memory is measured once more");
	check(m.members[3].result.outcome == OUTCOME_NONE
		  && m.members[4].result.outcome == OUTCOME_NONE && kept == 2,
		  "another error is judged later, and nothing is kept of it");
	end_heat();
	return done();
}
