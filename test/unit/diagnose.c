/*
 * diagnose.c
 *		What is said of code that misses a tolerance now and then: how far it was off where it was
 *		right tells a precision that is too low from a fault that comes rarely. Rare inputs for
 *		which it is wrong are no chance, and no address.
 */
#define _GNU_SOURCE
#include "../../runner/supervisor/checks/diagnose.c"
#include "../../runner/common/text.c"

#include "tap.h"

static double deviation;		/* of each run of the candidate, in tolerances */
static int	references;			/* processes of the reference */
static int	candidates;			/* and of candidates */
static int	beside[2];			/* those of both that began side by side */
static int	fails = -1;			/* which of these does not come to an end of that */
static int	blocks;				/* that were made otherwise */
static JobLanguage language = LANGUAGE_C;
static const char *source = "";
static bool overwrites[2];		/* whether either side writes to its inputs */
static int	drawn;				/* times that inputs were drawn */
static bool seen;				/* the candidate's process ran before they were drawn last */
static bool rare_input;			/* of every second inputs one is such that the code is wrong */
static bool by_address;			/* the code is wrong for inputs where others lay before */

static double tolerances = 1e-3;	/* of an output */

volatile sig_atomic_t executor_cancelled;

void
tensor_tolerance(uint32_t dtype, Tolerance tolerance, double *rtol, double *atol)
{
	*rtol = *atol = tolerances;
}

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
	*executor = (Executor) {.value = 0};
}

void *
measure_alloc(Measure *m, size_t bytes)
{
	return calloc(1, bytes);
}

void
measure_free(Measure *m, void *memory)
{
	free(memory);
}

bool
measure_arena(Measure *m, Arena *arena, uint32_t slots, uint32_t spare)
{
	return true;
}

double
measure_spent(Measure *m, Spending what, double since)
{
	return since;
}

bool
measure_generate(Measure *m, Arena *arena, const uint32_t *slots, uint32_t n)
{
	drawn++;
	seen = true;
	return true;
}

bool
measure_launch(Measure *m, Executor *executor, Side side, int seat, const Arena *arena,
			   uint64_t weight_seed)
{
	references += side == SIDE_REFERENCE;
	candidates += side == SIDE_CANDIDATE;
	seen = seen && side == SIDE_REFERENCE;
	return true;
}

int
measure_room_beside(Measure *m, int n, size_t kept)
{
	return n;
}

bool
measure_load_beside(Measure *m, const Beside *b)
{
	int			places = 0;

	for (int i = 0; i < b->n; i++)
	{
		Start		start;

		check(b->enter(b->context, i, &start) && start.executor->value == 0
			  && !m->member->by_name, "one begins with weights of its own");
		places |= 1 << start.arena->place;
		beside[start.side]++;
		start.executor->value = 1;
		if (i == fails && !b->goes_on(b->context, i))
			return false;
	}
	check(places == (2 << b->n) - 2, "each in memory of its own");
	heat_enter_all(m);
	return true;
}

void
heat_live_together(Measure *m, int n)
{
	m->shares = n;
}

void
heat_live_apart(Measure *m)
{
	m->shares = 0;
}

void
heat_share_among(Measure *m, Member *const *members, int n)
{
}

void
measure_unstage(Measure *m, Arena *arena, uint32_t slot)
{
}

void
heat_enter(Measure *m, Member *member)
{
	m->member = member;
	m->result = &member->result;
	m->time = member->time;
	m->code[SIDE_CANDIDATE] = &member->code;
}

void
heat_enter_all(Measure *m)
{
}

void
measure_end(Measure *m, Executor *executor)
{
}

bool
measure_stage(Measure *m, Arena *arena, Side side, const uint32_t *slots, uint32_t n)
{
	return true;
}

bool
measure_block(Measure *m, Executor *executor, Side side, const uint32_t *slots,
			  const uint64_t *seeds, uint32_t n, double timeout, double *elapsed)
{
	blocks++;
	return true;
}

bool
measure_read(Measure *m, Executor *executor, Side side, const Arena *arena, uint32_t run,
			 uint32_t slot, void *out)
{
	bool		wrong = (rare_input && drawn % 2 == 0 && slot == 3) || (by_address && seen);

	*(double *) out = side != SIDE_CANDIDATE ? 0 : wrong ? 1000 : deviation;
	return true;
}

bool
measure_inputs_same(Measure *m, const Arena *arena, Side side, uint32_t slot, bool *same)
{
	*same = !overwrites[side];
	return true;
}

bool
measure_poison(Measure *m, Executor *executor, Side side)
{
	return true;
}

void
measure_progress(Measure *m, const char *phase, int pairs, int rounds, double estimate,
				 double lower, double upper, double left, bool force)
{
}

uint64_t
random_next(RandomStream *stream)
{
	return 1;
}

static size_t
arena_bytes(const Measure *m)
{
	return 1 << 20;
}

static bool
compare(Measure *m, const void *expected, const void *found, int output, Comparison *c)
{
	double		error = *(const double *) found - *(const double *) expected;

	*c = (Comparison) {.equal = error <= 1,.error = error,.found = error};
	return true;
}

static bool
bring(Measure *m, const Arena *arena, Side side, uint32_t slot)
{
	return true;
}

static bool on_gpu;
static bool by_name;			/* weights by name were no better */
static double moves;			/* of the reference by rounding errors, in tolerances */

/*
 * the cause where an output of both members of a heat was so many tolerances off, and all of
 * further runs are `further`
 */
static bool
is_cause(const char *cause, double wrong, double further)
{
	static const Backend backend = {.arena_bytes = arena_bytes,.compare = compare,
		.outputs_apart = true,.bring = bring};
	static Job	job;
	static Gpu	gpu;
	Member		members[2] = {0};
	Measure		m = {.job = &job,.backend = &backend,.members = members,.nmembers = 2,
		.outputs = 1,.output_bytes = sizeof(double),.moves = moves,
		.gpu = on_gpu ? &gpu : NULL};
	bool		same = true;

	m.output[0] = (Tensor) {.dtype = WIRE_FLOAT64,.elements = 1,.bytes = sizeof(double)};
	job.language = language;
	deviation = further;
	references = candidates = blocks = beside[0] = beside[1] = drawn = 0;
	for (int i = 0; i < 2; i++)
	{
		members[i].result = (Result) {.outcome = OUTCOME_WRONG_OUTPUT,.wrong_error = wrong,
			.evidence = json_object()};
		strcpy(members[i].result.detail, "it is wrong");
		members[i].code.source = source;
		members[i].by_name = by_name;
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

int
main(void)
{
	int			runs;

	check(is_cause("tolerance", 1.03, 0.8), "what is always near the tolerance missed it");
	check(is_cause("rarely", 1.03, 0.01), "what is far within it elsewhere has a rare fault");
	check(is_cause("rarely", 1000, 0.8), "and so has what was far off once");
	check(is_cause("tolerance", 5, 5), "what is a few tolerances off for all inputs misses it");
	check(is_cause("values", 1000, 1000), "what is far off for all inputs is wrong");
	check(is_cause("tolerance", 25, 25), "so do some more where they are a thousandth each");
	tolerances = 2e-2;
	check(is_cause("values", 25, 25), "but not where they are several hundredths");
	check(is_cause("tolerance", 4, 4), "of which a few are little");
	tolerances = 1e-3;
	moves = 80;
	check(is_cause("tolerance", 300, 300), "unless the reference moves so far by rounding errors");
	check(is_cause("values", 1000, 1000), "what is farther off is wrong");
	moves = 0;
	is_cause("values", 1000, 1000);
	check(references == 1, "members of a heat are tried on what one process of the reference gave");
	check(is_cause("rarely", 1000, 0.8) && references == 4,
		  "unless one was tried on other inputs in the places of these");
	rare_input = true;
	check(is_cause("some_inputs", 1000, 0), "what is wrong for a few inputs is so by no chance");
	rare_input = false;
	by_address = true;
	check(is_cause("later_calls", 1000, 0), "what is wrong where others lay keeps their addresses");
	by_address = false;
	check(is_cause("values", 1000, 1000) && candidates == 2 * 2,
		  "what is wrong in its first call does not count on results of calls before");
	language = LANGUAGE_PYTORCH;
	source = "return torch.relu(x)";
	check(is_cause("values", 1000, 1000) && candidates == 2,
		  "nor is code waited for that leaves nothing at work");
	source = "with torch.cuda.Stream(): return torch.relu(x)";
	check(is_cause("values", 1000, 1000) && candidates == 2 * 2, "as a stream may be");
	source = "return torch.relu(x)";
	is_cause("values", 1000, 1000);
	runs = blocks;
	on_gpu = true;
	check(is_cause("values", 1000, 1000) && candidates == 0 && references == 0
		  && beside[SIDE_REFERENCE] == 1 && beside[SIDE_CANDIDATE] == 2 && blocks == runs - 3,
		  "on a GPU first trials begin side by side, each with its first run");
	by_name = true;
	check(is_cause("values", 1000, 1000) && candidates == 2 && beside[SIDE_CANDIDATE] == 2,
		  "and second ones follow, with weights by name");
	by_name = false;
	fails = 1;
	check(is_cause("values", 1000, 1000) && candidates == 1 && beside[SIDE_CANDIDATE] == 2,
		  "one that does not come to an end there is tried by itself");
	fails = 2;
	check(is_cause("values", 1000, 1000) && candidates == 2 && references == 1
		  && beside[SIDE_CANDIDATE] == 2, "and all are where the reference does not");
	fails = -1;
	overwrites[SIDE_CANDIDATE] = true;
	check(is_cause("input_overwritten", 1000, 1000), "what is wrong may write to its inputs");
	overwrites[SIDE_REFERENCE] = true;
	check(is_cause("values", 1000, 1000), "as its reference does, which is no cause");
	overwrites[SIDE_REFERENCE] = overwrites[SIDE_CANDIDATE] = false;
	check(is_cause("rarely", 1000, 0.8) && beside[SIDE_CANDIDATE] == 2,
		  "one that was tried on other inputs ends the processes of the others");
	return done();
}
