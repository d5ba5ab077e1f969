/*
 * diagnose.c
 *		What is said of wrong code: the cause that a trial finds, or values alone.
 */
#define _GNU_SOURCE
#include "../../runner/supervisor/checks/diagnose.c"
#include "../../runner/supervisor/checks/outputs.c"
#include "../../runner/supervisor/heat.c"
#include "../../runner/supervisor/outcome.c"
#include "../../runner/common/text.c"
#include "../../runner/common/random.c"
#include "../../runner/common/tensor.c"

#include "tap.h"

/* the candidate that is made up: its deviation in tolerances, by call, input and trial */
typedef double (*Behaviour) (uint32_t change, uint32_t call, uint32_t slot);

static Behaviour behaviour;
static uint32_t calls;			/* of the present process */
static int	references;			/* processes of the reference */
static int	candidates;			/* and of candidates */

volatile sig_atomic_t executor_cancelled;

const char *const probe_names[PROBES] = {[PROBE_PARAMETERS] = "parameters"};

void
arena_init(Arena *arena)
{
}

void
arena_destroy(Arena *arena)
{
}

void
executor_init(Executor *executor)
{
}

static void *
make_room(Measure *m, size_t bytes)
{
	return calloc(1, bytes);
}

static void
give_back(Measure *m, void *memory)
{
	free(memory);
}

static bool
make_arena(Measure *m, Arena *arena, uint32_t slots)
{
	return true;
}

bool
measure_generate(Measure *m, Arena *arena, uint32_t n)
{
	return true;
}

bool
measure_launch(Measure *m, Executor *executor, Side side, int seat, const Arena *arena)
{
	executor->hostile = side == SIDE_CANDIDATE;
	references += !executor->hostile;
	candidates += executor->hostile;
	calls = 0;
	return true;
}

static void
unstage(Measure *m, const Arena *arena, uint32_t slot)
{
}

void
measure_end(Measure *m, Executor *executor)
{
}

bool
checks_runs(Measure *m, Executor *executor, Arena *arena, uint32_t n, bool backwards,
			const uint64_t *seeds, char *out)
{
	for (uint32_t run = 0; run < n; run++)
	{
		uint32_t	i = backwards ? n - 1 - run : run;

		((double *) out)[i] = executor->hostile ? behaviour(m->trial.changes, calls++, i) : 0;
	}
	return true;
}

static bool
compare(Measure *m, const void *expected, const void *found, int output, const Tolerance *t,
		Comparison *c)
{
	double		error = fabs(*(const double *) found - *(const double *) expected);

	*c = (Comparison) {.equal = error <= 1,.error = error,.found = *(const double *) found};
	return true;
}

/* the behaviours */

static double deviation;

static double
steady(uint32_t change, uint32_t call, uint32_t slot)
{
	return deviation;
}

static double
far_off(uint32_t change, uint32_t call, uint32_t slot)
{
	return 1000 + slot;
}

static double
wrong_at_first(uint32_t change, uint32_t call, uint32_t slot)
{
	return call == 0 ? 1000 : 0;
}

static double
wrong_later(uint32_t change, uint32_t call, uint32_t slot)
{
	return call > 2 ? 1000 : 0;
}

static double
unfinished(uint32_t change, uint32_t call, uint32_t slot)
{
	return change & TRIAL_WAITED || call == 0 ? 0 : 1000 + call;
}

static double
adds(uint32_t change, uint32_t call, uint32_t slot)
{
	return change & TRIAL_ZEROED ? 0 : 1000 + call * 10;
}

static double
leaves_some(uint32_t change, uint32_t call, uint32_t slot)
{
	return change & TRIAL_ZEROED ? 500 : 1000 + call * 10;
}

static bool apart;				/* outputs are memory of the process */
static bool moved;				/* parameters were, where the candidate was wrong */
static double moves;			/* of the reference by rounding errors, in tolerances */

/* whether this is the cause for both candidates of a job, whose outputs were so far off */
static bool
is_cause(const char *cause, double wrong, Behaviour which)
{
	static const ArrayCalls arrays = {.alloc = make_room,.free = give_back,.compare = compare};
	Backend		backend = {.arrays = &arrays,.module = apart,.make_arena = make_arena,
		.unstage = unstage};
	static Job	job;
	Member		members[2] = {0};
	Measure		m = {.job = &job,.backend = &backend,.members = members,.nmembers = 2,
		.outputs = 1,.output_bytes = sizeof(double),
		.facts = {.moves = moves,.moves_parameters = moved},
		.device.arena_bytes = 1 << 20};
	bool		same = true;

	m.output[0] = (Tensor) {.dtype = WIRE_FLOAT64,.elements = 1,.bytes = sizeof(double)};
	references = candidates = 0;
	behaviour = which;
	for (int i = 0; i < 2; i++)
	{
		members[i].result = (Result) {.outcome = OUTCOME_WRONG_OUTPUT,.wrong_error = wrong,
			.evidence = json_object()};
		strcpy(members[i].result.detail, "it is wrong");
	}
	diagnose(&m);
	for (int i = 0; i < 2; i++)
	{
		Result	   *result = &members[i].result;

		same = same && result->outcome == OUTCOME_WRONG_OUTPUT
			&& strcmp(json_string_value(json_object_get(result->evidence, "cause")), cause) == 0;
		if (!same)
			printf("# %s\n", result->detail);
		json_decref(result->evidence);
	}
	return same;
}

/* whether that is the cause of outputs that are always so far off */
static bool
is_cause_of(const char *cause, double wrong, double always)
{
	deviation = always;
	return is_cause(cause, wrong, steady);
}

int
main(void)
{
	check(is_cause_of("tolerance", 1.03, 0.8), "what is near the tolerance missed it");
	check(is_cause_of("values", 1.03, 0.01), "what is far within it elsewhere has a rare fault");
	check(is_cause_of("values", 1000, 0.8), "and so has what was far off once");
	check(is_cause_of("tolerance", 5, 5), "what is a few tolerances off misses it");
	check(is_cause_of("values", 80, 80), "what is many off is wrong");
	moves = 80;
	check(is_cause_of("tolerance", 80, 80), "unless rounding errors move the reference so far");
	check(is_cause("values", 1000, far_off), "what is farther off is wrong");
	moves = 0;
	check(is_cause_of("values", 1, INFINITY), "and what is not finite");
	check(is_cause("values", 1000, far_off) && references == 1 && candidates == 2,
		  "candidates are tried on what one process of the reference gave");
	check(is_cause("first_call", 1000, wrong_at_first), "a wrong first call is told");
	check(is_cause("values", 1000, wrong_later), "later calls are not");
	check(is_cause("unfinished", 1000, unfinished), "what is right when waited for is unfinished");
	check(is_cause("uninitialised", 1000, adds), "what is right over zeros adds to them");
	check(is_cause("uninitialised", 1000, leaves_some), "what is steady over zeros leaves some");
	apart = true;
	check(is_cause("unfinished", 1000, unfinished), "so in memory of its own");
	check(is_cause("values", 1000, adds), "which starts as no zeros");
	moved = true;
	check(is_cause_of("probe", 1000, 0.01), "right where no parameter is moved leaves one out");
	check(is_cause("values", 1000, far_off), "and what is wrong there, too, is wrong");
	return done();
}
