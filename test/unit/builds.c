/*
 * builds.c
 *		Builds of a job's candidates: which are made side by side, and which by themselves.
 */
#define _GNU_SOURCE
#include "../../runner/common/text.c"
#include "../../runner/supervisor/build/build_interpreter.c"
#include "../../runner/supervisor/build/build_jit.c"
#include "../../runner/supervisor/heat.c"
#include "../../runner/supervisor/outcome.c"

#include "tap.h"

#define AT_ONCE		3
#define MOST		64
#define KILLED		(128 + SIGKILL)
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
static Gpu	gpu;

static void
needs_nothing(Measure *of, Interpreter *i, Sandbox *sandbox, bool forks)
{
}

static const Backend on_a_gpu = {.apart = true,.interpreter = needs_nothing};
static const Backend on_a_cpu = {.interpreter = needs_nothing};
static bool memory_is_short;
static int	status_of[HEAT_MAX];	/* of a member's build */
static const char *error_of[HEAT_MAX];
static int	builds_of[1 + HEAT_MAX];	/* how many there were, of the reference last */
static int	kept;
static int	most_running;
static int	most_ready;
static int	going_early;	/* before the device is held */
/* builds that went on beside one whose code is timed, or the reference's */
static int	beside_timed;
static double seconds = 1;		/* the clock */

volatile sig_atomic_t executor_cancelled;

static bool
is_going(int i)
{
	char		byte;

	return !started[i].ended && recv(started[i].go, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

static bool
is_timed(int member)
{
	return member < 0 || m.members[member].code.built.alone;
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
build_wait(pid_t pid, double until, int *status)
{
	int			running = 0;
	int			ready = 0;
	bool		timed = false;
	int			member = started[pid - 1].member;

	builds_of[member < 0 ? HEAT_MAX : member]++;
	for (int i = 0; i < nstarted; i++)
	{
		ready += !started[i].ended;
		running += is_going(i);
		timed = timed || (is_going(i) && is_timed(started[i].member));
	}
	most_running = running > most_running ? running : most_running;
	most_ready = ready > most_ready ? ready : most_ready;
	beside_timed += timed && running > 1;
	seconds += 1;
	*status = member < 0 ? 0 : status_of[member];
	if (!is_going(pid - 1))
		beside_timed = MOST;
	started[pid - 1].ended = *status != TOO_LONG;
	*status = *status < 0 ? 0 : *status << 8;
	return started[pid - 1].ended;
}

int
sandbox_end(pid_t pid)
{
	if (pid > 0)
		started[pid - 1].ended = true;
	return 0;
}

void
build_log(int fd, const char *folder, char *text, size_t size)
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

bool
build_enter(Measure *of, int which)
{
	if (which == 0)
		heat_enter_all(of);
	else
		heat_enter(of, &of->members[which - 1]);
	return which == 0 || of->members[which - 1].result.outcome == OUTCOME_NONE;
}

void
build_cache_keep(Measure *of, const char *key, const char *folder)
{
	kept++;
}

int
build_at_once(void)
{
	return AT_ONCE;
}

bool
gpu_is_short(Measure *of, int contexts)
{
	return memory_is_short;
}

int
log_file(void)
{
	return dup(0);
}

bool
build_disk_full(const Measure *of, const char *text)
{
	return false;
}

bool
build_lacked_room(Measure *of, const char *folder, const char *text)
{
	return false;
}

bool
build_lacked_processes(const char *text)
{
	return false;
}

/* the GPU's builds, or, without one, those of a CPU */
static void
build_heat_on(Gpu *device, BuiltKind kind, const char *const *codes, int n)
{
	static Options options;
	static const int numbers[HEAT_MAX] = {0};

	nstarted = kept = most_running = most_ready = beside_timed = 0;
	memset(builds_of, 0, sizeof(builds_of));
	memset(&m, 0, sizeof(m));
	options.python = "/usr/bin/python3";
	options.libdir = "";
	job.reference = "import triton";
	job.profile.build_seconds = 10;
	m.job = &job;
	m.options = &options;
	m.gpu = device;
	m.backend = device ? &on_a_gpu : &on_a_cpu;
	m.locked_at = seconds;
	for (int i = 0; i < n; i++)
		job.candidate[i].code = (char *) codes[i];
	heat_init(&m, numbers, n);
	m.reference.kinds = m.kinds = 1u << kind;
	/* of one candidate, the reference's was kept */
	m.reference.built.key = n > 1 ? strdup("reference") : NULL;
	for (int i = 0; i < n; i++)
	{
		m.members[i].number = i;
		m.members[i].code.kinds = m.kinds;
		m.members[i].code.built.key = strdup("candidate");
		m.members[i].code.built.alone = compiled_is_timed(codes[i]);
	}
	build_start_on_device(&m);
	going_early = 0;
	for (int i = 0; i < nstarted; i++)
		going_early += started[i].ended || is_going(i);
	build_on_device(&m);
	heat_share(&m);
}

static void
build_heat(const char *const *codes, int n)
{
	build_heat_on(&gpu, BUILT_TRITON, codes, n);
}

static int
ended_as(Outcome outcome, int n)
{
	int			found = 0;

	for (int i = 0; i < n; i++)
		found += m.members[i].result.outcome == outcome;
	return found;
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
	const char *plain = "import triton  # returns a sum";
	const char *tuned = "@triton.autotune(configs=[])";
	const char *const alike[] = {plain, plain, plain, plain, plain, plain, plain, plain};
	const char *const mixed[] = {tuned, plain, plain, tuned, plain, "time.perf_counter()"};
	const char *const words[] = {"max_autotune", "do_bench(f)", "torch.compile(model)",
		"import torch._dynamo", "start = time.time()", "cudnn.benchmark = True"};
	bool		timed = true;
	double		spent = 0;
	double		held = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		timed = timed && compiled_is_timed(words[i]);
	check(timed && !compiled_is_timed(plain) && !compiled_is_timed("#include <cuda_runtime.h>"),
		  "words tell which code may choose by time among what it compiles");

	build_heat(alike, 8);
	check(most_running == AT_ONCE && kept == 9 && beside_timed == 0,
		  "builds that are not timed are made side by side, the reference's before them");
	check(most_ready == READY_TIMES * AT_ONCE, "while the interpreters of others start");
	for (int i = 0; i < 8; i++)
	{
		spent += m.members[i].result.spent[SPENT_BUILD];
		held += m.members[i].result.device_seconds;
	}
	check(near(spent, 9, 1e-9) && near(held, 9, 1e-9)
		  && near(m.members[7].result.device_seconds, 9.0 / 8, 1e-9),
		  "and each has the seconds in which it is waited for");
	end_heat();

	memory_is_short = true;
	build_heat(alike, 4);
	check(most_running == 1 && kept == 5, "one by one where the GPU has little memory");
	memory_is_short = false;
	end_heat();

	build_heat(mixed, 6);
	check(most_running == AT_ONCE && beside_timed == 0 && kept == 7,
		  "nothing is built beside what is timed");
	check(started[nstarted - 1].member == 5 && started[nstarted - 3].member == 0,
		  "which comes after all others");
	end_heat();

	status_of[1] = BUILD_RAISED;
	error_of[1] = "OutOfMemoryError: CUDA out of memory";
	status_of[2] = BUILD_SHORT;
	status_of[3] = BUILD_RAISED;
	error_of[3] = "TypeError: no such argument";
	build_heat(alike, 5);
	check(m.members[1].apart == APART_ALONE && m.members[2].apart == APART_ALONE,
		  "what others may have failed is measured by itself");
	check(m.members[3].apart == 0 && m.members[3].result.outcome == OUTCOME_NONE && kept == 3,
		  "an error of names, types or shapes is judged later, and nothing is kept of it");
	end_heat();

	status_of[0] = BUILD_SHORT;
	build_heat(alike, 1);
	check(m.members[0].apart == 0 && kept == 1, "what is short of memory by itself is kept");
	end_heat();

	status_of[0] = BUILD_FAILED;
	status_of[1] = TOO_LONG;
	status_of[2] = KILLED;
	build_heat(alike, 4);
	check(m.members[0].result.outcome == OUTCOME_COMPILE_ERROR && builds_of[0] == 1,
		  "what a compiler refuses has its verdict");
	check(m.members[1].apart == APART_ALONE && m.members[2].apart == APART_ALONE
		  && m.members[3].result.outcome == OUTCOME_NONE && kept == 2,
		  "what takes too long or is killed is measured by itself");
	end_heat();

	for (int kind = BUILT_EXTENSIONS; kind <= BUILT_TRITON; kind++)
	{
		build_heat_on(NULL, (BuiltKind) kind, alike, 4);
		check(going_early == 0 && nstarted == 5 && kept == 5,
			  "for a CPU nothing is built before it is held");
		check(most_running == AT_ONCE && beside_timed == 0, "and then side by side");
		end_heat();
	}

	status_of[0] = BUILD_RAISED;
	error_of[0] = "RuntimeError: no";
	build_heat_on(NULL, BUILT_EXTENSIONS, alike, 2);
	check(m.members[0].apart == 0, "where none lacks a GPU's memory");
	end_heat();

	status_of[0] = TOO_LONG;
	build_heat(&tuned, 1);
	check(m.members[0].result.outcome == OUTCOME_COMPILE_ERROR && m.members[0].apart == 0,
		  "and by itself it is judged");
	end_heat();
	return done();
}
