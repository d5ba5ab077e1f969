/*
 * checks.c
 *		The phase before any pair: is each side right, and how long does a run take.
 *
 * Both sides run the same fresh inputs, one by one. check_reference() runs the reference in two
 * processes, in another order of the inputs, and compares them. If it disagrees with itself, or
 * returns the same for all inputs and probes, the measurement is unverified. check_candidates()
 * compares candidates with the reference, and wrong ones are not timed. The quickest of these runs
 * estimates the seconds of a run, from which windows get their lengths.
 */
#include "supervisor/checks/checks.h"

#define CALLS_IN_A_ROW	3
/* share of an output (1 in 10) that may lie at a step of a function, and turn to its other side */
#define FEW_OTHERS		10
/* of an output's scale; elements that move farther are made of rounding errors */
#define ROUNDED_ATOL	0.1
#define MANY_UNITS		1024	/* in the last place, which an ordinary output hardly shows */
#define POLE_INPUTS		2
#define POLE_MOVES		0.1		/* of its own size and the scale, by which an element there moves */
#define POLES_MOST		0.1		/* of the elements, which may lie near a pole */
#define MOST_MOVES		1e6		/* a finite number for evidence */
#define SLOW_LEAST		0.1		/* seconds by which the least of some runs may be too long */

/* Compares runs up to the first wrong one; c->agreement gets the largest error of them. */
static bool
compare_runs(Checks *c, const char *expected, uint32_t n)
{
	double		error = 0;

	for (c->alike = 0; c->alike < n; c->alike++)
	{
		size_t		at = c->alike * c->m->output_bytes;

		if (!measure_agree(c->m, expected + at, c->found + at, c->m->tolerance, &c->agreement))
			return false;
		error = fmax(error, c->agreement.error);
		if (c->agreement.wrong >= 0)
			break;
	}
	c->agreement.error = error;
	return true;
}

/* Starts a process of the code that this handle stands for, in place of the last one. */
static bool
launch(Checks *c, Executor *executor)
{
	measure_end(c->m, executor);
	return measure_launch(c->m, executor, executor == &c->candidate ? SIDE_CANDIDATE
						  : SIDE_REFERENCE, executor != &c->reference, &c->arena);
}

/* Outputs of a fresh process's calls, where each finds the state that the last one left. */
static bool
calls_in_a_row(Checks *c, Executor *executor, uint32_t n, char *out)
{
	Measure    *m = c->m;
	double		time[2];
	bool		good;

	memcpy(time, m->member->time, sizeof(time));
	m->facts.restores = false;
	good = launch(c, executor) && checks_runs(m, executor, &c->arena, n, false, c->seeds, out);
	m->facts.restores = true;
	memcpy(m->member->time, time, sizeof(time));
	measure_end(m, executor);
	return good;
}

/* Whether outputs depend on inputs, or at least on probes. Else a constant would be right. */
static bool
depends_on_inputs(Checks *c)
{
	Measure    *m = c->m;
	Agreement	a = {.differ = m->output_bytes == 0 || m->facts.depends};

	for (uint32_t i = 1; i < c->n && !a.differ; i++)
		if (!measure_agree(m, c->expected, c->expected + i * m->output_bytes, m->tolerance, &a))
			return false;
	return a.differ || c->n < 2
		|| conclude(m, OUTCOME_UNVERIFIED, "the reference returns the same for other inputs, so "
					"a constant would be right");
}

/* on a GPU each side has slots of its own, and inputs have a master copy */
static size_t
slots_bytes(const Checks *c)
{
	const Measure *m = c->m;
	size_t		sides = m->backend->apart ? 2 : 1;

	return (c->slots + c->spare) * ((sides + m->backend->apart) * m->inputs.slot_bytes
									+ sides * m->output_slot_bytes);
}

/* Inputs for all slots, how many both sides run, and how long one takes to make. */
static bool
make_inputs(Checks *c)
{
	Measure    *m = c->m;
	size_t		budget = m->device.arena_bytes;

	c->seeds = measure_zeroed(c->slots, sizeof(*c->seeds));
	while (c->spare > 0 && slots_bytes(c) > budget)
		c->spare--;
	/* a GPU holds inputs three times; the rounds compare what is not compared here */
	while (m->backend->apart && c->slots > 1 && slots_bytes(c) > budget)
		c->slots--;
	c->n = c->slots;
	for (uint32_t i = 0; i < c->slots; i++)
		c->seeds[i] = random_next(&m->random);
	/* the first time touches the memory, the second one tells what an input takes */
	for (int i = 0; i < 2; i++)
	{
		double		started = clock_now();

		if ((i == 0 && !m->backend->make_arena(m, &c->arena, c->slots + c->spare))
			|| !measure_generate(m, &c->arena, c->slots))
			return false;
		m->inputs.make_seconds = (clock_now() - started) / c->slots;
	}
	return true;
}

/* to c->found the outputs for an input off by so many units; c->wider: in single precision */
static bool
nudge(Checks *c, uint32_t input, double units)
{
	Measure    *m = c->m;
	bool		changed;
	bool		good;

	m->trial.changes = c->wider ? TRIAL_WIDER : 0;
	good = probes_make(m, &c->arena, PROBE_ROUNDED, units, input, c->slots, &changed)
		&& checks_run_slot(m, &c->other, &c->arena, c->slots, c->seeds[input], c->found);
	m->trial.changes = 0;
	return good;
}

/*
 * Elements that rounding moves by more than is tolerated lie at a step of a function. c->found has
 * the first input's; half precision comes near to other steps for each input, so all tell of it.
 */
static bool
learn_steps(Checks *c)
{
	Measure    *m = c->m;
	uint32_t	n = m->facts.half && c->wider ? c->n : 1;
	uint64_t	steps[WIRE_MAX_TENSORS] = {0};
	double		most[WIRE_MAX_TENSORS] = {0};

	for (uint32_t k = 0; k < n; k++)
	{
		if (k > 0 && !nudge(c, k, 1))
			return false;
		for (int i = 0; i < m->outputs; i++)
		{
			size_t		at = m->output[i].gathered;
			Comparison	differ;

			if (!m->backend->arrays->compare(m, c->expected + k * m->output_bytes + at,
											 c->found + at, i, &m->tolerance[i], &differ))
				return false;
			steps[i] += differ.mismatches;
			most[i] = fmax(most[i], differ.error);
		}
	}
	for (int i = 0; i < m->outputs; i++)
		tolerance_steps(&m->tolerance[i], (steps[i] + n - 1) / n, m->output[i].elements,
						fmin(most[i], MOST_MOVES));
	return true;
}

/*
 * Elements that move far where an input is many units off lie near a pole, as quotients by sums
 * that are nearly 0 do. As many may miss by any amount, because right code may add in another
 * order. If more than a tenth do, no pole is the cause. False after conclude()
 */
static bool
learn_poles(Checks *c)
{
	Measure    *m = c->m;

	for (uint32_t k = 0; k < c->n && k < POLE_INPUTS; k++)
	{
		if (!nudge(c, k, MANY_UNITS))
			return false;
		for (int i = 0; i < m->outputs; i++)
		{
			size_t		at = m->output[i].gathered;
			Tolerance  *t = &m->tolerance[i];
			Tolerance	far = *t;
			Comparison	differ;
			double		share;

			if (!tensor_dtype_is_float(m->output[i].dtype))
				continue;
			far.atol = INFINITY;
			far.share = POLE_MOVES;
			if (!m->backend->arrays->compare(m, c->expected + k * m->output_bytes + at,
											 c->found + at, i, &far, &differ))
				return false;
			share = (double) differ.mismatches / (double) m->output[i].elements;
			if (differ.mismatches == 0 || share > POLES_MOST)
				continue;
			t->misses = fmax(t->misses, share);
			t->farthest = INFINITY;
		}
	}
	return true;
}

/*
 * Whether outputs are more than rounding errors, as of a sum that cancels. Where they are not,
 * inputs that are off by a unit in the last place give others, and so does right code that adds in
 * another order. Half precision that is nothing but its own errors is compared by these, as no
 * other precision gives them: then c->wider becomes false.
 */
static bool
stands_rounding(Checks *c)
{
	Measure    *m = c->m;
	uint32_t	half;
	Tolerance	before[WIRE_MAX_TENSORS];
	bool		good;

	/* there is no room for other inputs */
	if (c->spare == 0)
		return true;
	good = nudge(c, 0, 1);
	half = (uint32_t) c->other.value;
	if (good && c->wider && m->backend->module && half != m->facts.half)
	{
		m->facts.half = half;
		good = signal_learn(m, c->expected, c->n);
	}
	memcpy(before, m->tolerance, sizeof(before));
	for (int i = 0; good && i < m->outputs; i++)
	{
		const Tensor *t = &m->output[i];
		const char *expected = c->expected + t->gathered;
		const char *found = c->found + t->gathered;
		Tolerance	rounded;
		Comparison	differ;
		Moves		moves;
		double		share;			/* of the elements, that move by more than a tolerance */

		if (!tensor_dtype_is_float(t->dtype))
			continue;
		if (!signal_moves(m, i, expected, found, &m->tolerance[i], &moves))
			return false;
		share = (double) moves.all.mismatches / (double) t->elements;
		if (share > TOLERANCE_MISSES || moves.all.error > TOLERANCE_FARTHEST)
			m->facts.moves = fmin(fmax(m->facts.moves, moves.all.error), MOST_MOVES);
		tolerance_widen(&m->tolerance[i], moves.usual, share);
		if (share <= 1.0 / FEW_OTHERS)
			continue;
		rounded = m->tolerance[i];
		rounded.widen = 1;
		rounded.rtol = 0;
		rounded.atol = rounded.share = ROUNDED_ATOL;
		good = m->backend->arrays->compare(m, expected, found, i, &rounded, &differ);
		if (!good || differ.mismatches <= t->elements / FEW_OTHERS)
			continue;
		if (!c->wider)
			return conclude(m, OUTCOME_UNVERIFIED, "output %d of the reference is made of rounding "
							"errors: %zu of %zu elements are others where inputs are off by a unit "
							"in the last place, so no tolerance tells right code from wrong", i,
							differ.mismatches, t->elements);
		c->wider = false;
		memcpy(m->tolerance, before, sizeof(before));
		m->facts.moves = 0;
		return stands_rounding(c);
	}
	if (m->facts.moves > 0)
		json_object_set_new(m->result->evidence, "moves", json_real(m->facts.moves));
	return good && learn_steps(c) && (m->facts.half || learn_poles(c));
}

/*
 * Notes the memory of a GPU that a process of a group's pair must have: from the pool, and beside
 * it, when `left` was what the GPU had left before
 */
static void
note_memory(Measure *m, const Executor *executor, size_t left)
{
	Code	   *code = &m->reference;
	size_t		kept;

	if (!m->backend->memory_left)
		return;
	kept = executor->pool_bytes + m->backend->memory_left(m);
	if (left > kept && left - kept > code->gpu_bytes)
		code->gpu_bytes = left - kept;
	if (executor->control->pool_used > code->pool_used)
		code->pool_used = executor->control->pool_used;
}

/* Whether the last run of a process has left its inputs as they were; false after conclude() */
static bool
inputs_same(Checks *c, const Executor *executor, uint32_t slot, bool *same)
{
	const Backend *backend = c->m->backend;

	*same = true;
	return !backend->inputs_same
		|| backend->inputs_same(c->m, &c->arena, executor_side(executor), slot, same);
}

/* Takes a fresh process's outputs as expected; `agree`: another gives the same in another order. */
static bool
run_reference(Checks *c, bool *agree)
{
	Measure    *m = c->m;
	/* State that a process writes to is brought back before its first two runs alone. */
	uint32_t	twice = c->n < 2 || m->facts.restores ? c->n : 2;
	size_t		left;
	bool		good;
	bool		same;

	if (!checks_runs(m, &c->reference, &c->arena, c->n, false, c->seeds, c->expected)
		|| !signal_learn(m, c->expected, c->n)
		|| !inputs_same(c, &c->reference, c->n - 1, &same))
		return false;
	c->overwrites = !same;
	left = m->backend->memory_left ? m->backend->memory_left(m) : 0;
	good = launch(c, &c->other)
		&& checks_runs(m, &c->other, &c->arena, twice, true, c->seeds, c->found);
	if (good)
		note_memory(m, &c->other, left);
	good = good && m->result->outcome == OUTCOME_NONE && compare_runs(c, c->expected, twice);
	*agree = c->alike == twice;
	return good && (!*agree || stands_rounding(c));
}

/* Names the attributes that a reference's runs change, for its verdict. */
static bool
name_state(Measure *m, Executor *executor)
{
	ExecutorResult result = executor_command(executor, WIRE_STATE, 0, 0,
											 m->job->profile.build_seconds);

	if (!measure_failed(m, SIDE_REFERENCE, executor, result, "when asked for its state"))
		return false;
	text_clean(m->facts.state, sizeof(m->facts.state), executor->control->text,
			   sizeof(executor->control->text));
	return true;
}

/* What calls in a row give; nothing of a reference that returns its state, which callers change. */
static bool
follow_reference(Checks *c)
{
	Measure    *m = c->m;
	uint32_t	n = c->n < CALLS_IN_A_ROW ? c->n : CALLS_IN_A_ROW;

	c->followed = measure_alloc(m, n * m->output_bytes);
	if (!c->followed
		|| !calls_in_a_row(c, &c->other, n, c->followed)
		|| !calls_in_a_row(c, &c->other, n, c->found)
		|| !compare_runs(c, c->followed, n))
		return false;
	c->in_a_row = n > 1 && c->alike == n ? n : 0;
	return true;
}

/*
 * Notes what cudal1_light() tells of the task: the bytes that a call reads and writes, and the
 * operations of PyTorch's. The process that counts them ends afterwards.
 */
static void
note_work(Checks *c)
{
	Measure    *m = c->m;
	size_t		bytes = 0;

	for (int i = 0; i < m->inputs.n; i++)
		bytes += m->inputs.tensor[i].bytes;
	for (int i = 0; i < m->outputs; i++)
		bytes += m->output[i].bytes;
	json_object_set_new(m->result->evidence, "bytes", json_integer((json_int_t) bytes));
	if (m->backend->module && c->other.control
		&& executor_command(&c->other, WIRE_OPERATIONS, 0, 0, m->job->profile.build_seconds)
		== EXECUTOR_OK
		&& c->other.value > 0)
		json_object_set_new(m->result->evidence, "operations",
							json_integer((json_int_t) c->other.value));
}

/*
 * The reference in two processes; what it gives in the first is expected of the candidate. Where
 * they disagree, it may keep state from run to run. Then each run of either side begins with the
 * state after construction, if that makes it agree.
 */
static bool
check_reference(Checks *c)
{
	Measure    *m = c->m;
	bool		agree;

	/* a first run may warm up for long: libraries initialise, code compiles itself */
	if (!launch(c, &c->reference)
		|| !checks_runs(m, &c->reference, &c->arena, 1, false, c->seeds, NULL))
		return false;
	m->facts.moves_parameters = m->facts.moves_parameters && c->reference.arrays > 0;
	/* fewer outputs that take gigabytes are kept; the rounds compare those that are missing here */
	while (c->n > 1 && c->n * m->output_bytes > m->backend->output_share * m->device.arena_bytes)
		c->n--;
	c->expected = measure_alloc(m, c->n * m->output_bytes);
	c->found = measure_alloc(m, c->n * m->output_bytes);
	if (!c->expected || !c->found)
		return false;
	/* the first run told whether random numbers are consumed; start again with the seed set */
	if ((m->facts.seeds_runs && !launch(c, &c->reference)) || !run_reference(c, &agree))
		return false;
	if (!agree && m->backend->module)
	{
		m->facts.restores = true;
		measure_end(m, &c->other);
		if (!launch(c, &c->reference) || !run_reference(c, &agree)
			|| !name_state(m, &c->reference) || (agree && !follow_reference(c)))
			return false;
		json_object_set_new(m->result->evidence, "restored", json_string(m->facts.state));
	}
	if ((!agree && !measure_blame(m, &c->agreement, SIDE_REFERENCE, NULL))
		|| !probes_learn(c)
		|| !depends_on_inputs(c))
		return false;
	if ((m->options->cli || m->job->certify) && !weak_note(c))
		return false;
	if (m->job->certify)
		note_work(c);
	note_memory(m, &c->reference, 0);
	measure_end(m, &c->other);
	m->facts.sound = true;
	return m->result->outcome == OUTCOME_NONE;
}

static void
forget_reference(Checks *c)
{
	Measure    *m = c->m;

	measure_end(m, &c->reference);
	measure_end(m, &c->other);
	for (int i = 0; i < PROBE_INPUTS; i++)
		measure_free(m, c->probed[i]);
	measure_free(m, c->expected);
	measure_free(m, c->found);
	measure_free(m, c->followed);
	memset(c->probed, 0, sizeof(c->probed));
	c->expected = c->found = c->followed = NULL;
}

/*
 * Parameters that begin as constants are moved, so that code can't leave out what they would do
 * later. A reference that is no good then has them as they are.
 */
static bool
check_moved(Checks *c)
{
	Measure    *m = c->m;
	uint32_t	n = c->n;
	Agreement	same = {.infinite = 0};
	bool		good;

	m->facts.moves_parameters = m->backend->module
		&& !(m->job->no_probes & 1u << PROBE_PARAMETERS);
	good = check_reference(c) && measure_agree(m, c->expected, c->expected, m->tolerance, &same)
		&& same.infinite == 0;
	if (good || !m->facts.moves_parameters || executor_cancelled
		|| m->result->outcome == OUTCOME_LOST)
		return m->result->outcome == OUTCOME_NONE;
	forget_reference(c);
	json_object_clear(m->result->evidence);
	m->result->outcome = OUTCOME_NONE;
	m->result->detail[0] = '\0';
	m->facts = (ReferenceFacts) {.same_inputs = m->facts.same_inputs};
	m->outputs = 0;
	m->member->time[SIDE_REFERENCE] = 0;
	c->n = n;
	c->in_a_row = 0;
	c->wider = true;
	return check_reference(c);
}

/* Timed runs begin with the first state, so code that leaves it out would be right in all. */
static bool
follow_candidate(Checks *c)
{
	Measure    *m = c->m;

	if (c->in_a_row == 0)
		return true;
	if (!calls_in_a_row(c, &c->candidate, c->in_a_row, c->found)
		|| !compare_runs(c, c->followed, c->in_a_row))
		return false;
	if (c->alike == c->in_a_row)
		return true;
	measure_cause(m, SIDE_CANDIDATE, "state");
	return conclude(m, OUTCOME_WRONG_OUTPUT, "call %u of a process is wrong, where each finds "
					"the state that the last one left: the reference changes %s", c->alike + 1,
					m->facts.state);
}

/* Compares a candidate's runs. If they are right, they leave inputs alone as the reference's do. */
static bool
run_candidate(Checks *c)
{
	Measure    *m = c->m;
	/* with probes there are about as many runs as without them */
	uint32_t	n = (uint32_t) fmin(c->n, fmax((double) c->n - m->facts.probes, 2));
	/* the first call of a process counts as all others do */
	uint32_t	runs[] = {1, n};
	bool		same;

	if (!launch(c, &c->candidate))
		return false;
	m->member->time[SIDE_CANDIDATE] = 0;
	for (int i = 0; i < 2; i++)
	{
		double		start;

		if (!checks_runs(m, &c->candidate, &c->arena, runs[i], false, c->seeds, c->found))
			return false;
		start = clock_now();
		if (!compare_runs(c, c->expected, runs[i]))
			return false;
		m->facts.compare_seconds = (clock_now() - start) / runs[i];
		if (c->alike < runs[i])
			return true;
	}
	m->result->checks += (int) n;
	m->result->max_error = fmax(m->result->max_error, c->agreement.error);
	if (!inputs_same(c, &c->candidate, n - 1, &same))
		return false;
	if (same || c->overwrites)
		return true;
	measure_cause(m, SIDE_CANDIDATE, "input_overwritten");
	return conclude(m, OUTCOME_WRONG_OUTPUT, "the outputs are right, but an input is another after "
					"the run: the reference leaves it as it was, and its caller may need it");
}

/*
 * The candidate draws its weights from the reference's seed, its constructor being run as the
 * reference's is. Where that disagrees, the reference's are copied to those of the same names. What
 * the first check ended with holds for all later processes.
 */
static bool
check_candidate(Checks *c)
{
	Measure    *m = c->m;
	const double *time = m->member->time;
	bool		weights;

	if (!run_candidate(c))
		return false;
	weights = m->backend->module && c->candidate.arrays > 0;
	m->member->by_name = weights && c->agreement.wrong >= 0;
	if (m->member->by_name && !run_candidate(c))
		return false;
	if (weights)
		json_object_set_new(m->result->evidence, "weights",
							json_string(m->member->by_name ? "by name" : "in order"));
	if (c->agreement.wrong >= 0)
		return measure_blame(m, &c->agreement, SIDE_CANDIDATE, NULL);
	/* Windows of such code would hold the device for a minute. */
	if (time[SIDE_CANDIDATE] > SLOW_LEAST + m->job->profile.run_limit_factor * time[SIDE_REFERENCE])
		return measure_too_slow(m, time[SIDE_CANDIDATE], time[SIDE_REFERENCE]);
	return probes_check(c) && follow_candidate(c);
}

static void
check_candidates(Checks *c)
{
	Measure    *m = c->m;
	double		reference = m->member->time[SIDE_REFERENCE];

	heat_share(m);
	for (int i = 0; heat_next(m, &i); i++)
	{
		m->member->time[SIDE_REFERENCE] = reference;
		check_candidate(c);
		measure_end(m, &c->candidate);
		/* All run the same inputs: overwrite what one has left before the next can look there. */
		for (uint32_t slot = 0; slot < c->arena.slots && m->nmembers > 1; slot++)
			m->backend->unstage(m, &c->arena, slot);
	}
}

bool
checks_run(Measure *m)
{
	Checks		c = {.m = m, .slots = (uint32_t) m->job->profile.checks,
		.spare = PROBE_INPUTS + 1, .wider = true};
	bool		good;

	arena_init(&c.arena);
	executor_init(&c.reference);
	executor_init(&c.other);
	executor_init(&c.candidate);
	good = make_inputs(&c) && check_moved(&c);
	if (good)
		check_candidates(&c);
	heat_enter_all(m);
	forget_reference(&c);
	arena_destroy(&c.arena);
	free(c.seeds);
	return heat_left(m) > 0;
}
