/*
 * window.c
 *		A window: the gated runs of one process.
 *
 * A process can't know the input of a run before the run's turn. The input is brought, the gate
 * opened, and the process waited for until it is at its next gate; that is the time of the run. At
 * a gate nothing of the result is there, and at the next one all of it is: an element is read
 * before (of modules, bytes of earlier results), and a few after, which must be what the reference
 * gave. The process is stopped before the window and after it, and on a CPU before runs that are
 * long, or whose arrays are large.
 */
#include "src/score.h"
#include "supervisor/checks/checks.h"
#include "supervisor/time/time.h"

#define LOST			1e-6	/* seconds of delay in which a process has not lost its core */
#define CLEAN_LEAST		3		/* runs that kept their core, for the others not to count */
#define HAND_SECONDS	5e-4	/* for what was sent to a device before a hand test */
#define TRIMMED			0.1		/* share of runs, the slowest, that a mean leaves out */
#define PREPARED_LEAST	4		/* times that an output was right before its gate, */
#define PREPARED_SHARE	8		/* and one in so many that were looked at: noise may be right */

/* The time of a run. */
typedef struct Timing
{
	double		seconds;
	double		late;			/* seconds that the supervisor was without its core */
	bool		clean;			/* kept its core, or was not asked */
	bool		counts;
} Timing;

static bool
refuse(Measure *m, Process *process, const char *detector, const char *what)
{
	measure_detector(m, detector);
	return conclude(m, outcome_of(process->side, OUTCOME_CHEAT), "%s: %s",
					name_of_side(process->side), what);
}

/* bytes of an element that is looked at */
static size_t
size_of(const Measure *m, const Look *look)
{
	return tensor_dtype(m->output[look->output].dtype)->size;
}

/* Finds the addresses of a look's first elements, and returns how many it found. */
static int
find_elements(Measure *m, Process *process, uint32_t run, const Look *look, int most,
			  uint64_t *address)
{
	int			n = 0;

	while (n < most
		   && (address[n] = m->backend->element(m, &process->executor, &process->arena, run,
												look->output, look->element[n])) != 0)
		n++;
	return n;
}

/*
 * Before a gate: reads an element of a compiled code's slot for outputs. A module's next result
 * has no known place, so bytes of earlier results must be as they were.
 */
static bool
look_before(Measure *m, Process *process, uint32_t run, const Look *look,
			uint64_t *before)
{
	uint64_t	address;

	if (m->backend->module)
		return !m->backend->overwrite || noise_stays(m, process);
	return find_elements(m, process, run, look, 1, &address) == 0
		|| m->backend->peek(m, &process->executor, &address, 1, size_of(m, look), before);
}

static void
remember(Measure *m, Process *process, const uint64_t *address, int n)
{
	for (int i = 0; i < n; i++)
	{
		int			at = process->nremembered < REMEMBERED ? process->nremembered++
			: (int) random_below(&m->random, REMEMBERED);

		process->remembered[at] = address[i];
	}
}

/* When a run has ended: reads elements of one output at once. */
static bool
look_after(Measure *m, Process *process, uint32_t run, const Look *look,
		   const uint64_t *before, uint64_t *value)
{
	uint64_t	address[LOOKS] = {0};
	size_t		size = size_of(m, look);
	int			n = find_elements(m, process, run, look, LOOKS, address);

	memset(value, 0, LOOKS * sizeof(*value));
	if (n > 0 && !m->backend->peek(m, &process->executor, address, n, size, value))
		return false;
	/* Executors make the pages of small outputs; the kernel would clear others as they are read. */
	if (m->backend->overwrite && m->output[look->output].bytes >= WIRE_LARGE_OUTPUT)
		n = executor_count_written(&process->executor, address, n);
	if (n < LOOKS)
	{
		measure_cause(m, process->side, "memory");
		return conclude(m, outcome_of(process->side, OUTCOME_WRONG_OUTPUT),
						"%s: output %d of a run that says it is done lies nowhere",
						name_of_side(process->side), look->output);
	}
	process->looked[look->output] += !m->backend->module;
	process->prepared[look->output] += !m->backend->module && memcmp(value, before, size) == 0;
	if (m->backend->overwrite)
	{
		remember(m, process, address, 1);
		return noise_watch(m, process);
	}
	return true;
}

/*
 * Leaves noise where a module's result was read, because a caller may write to what it was given:
 * on a CPU over all of it, on a GPU over the elements that were read at once.
 */
static bool
leave_noise(Measure *m, Process *process, uint32_t run, const Look *look)
{
	uint64_t	address[LOOKS];
	int			n;

	if (!m->backend->module)
		return true;
	if (m->backend->overwrite)
		return noise_leave(m, process, run);
	n = find_elements(m, process, run, look, LOOKS, address);
	remember(m, process, address, n);
	return m->backend->poke(m, address, n, size_of(m, look));
}

/* What a run needs, none of which its process has before: its seed, and its input. */
static bool
hand_over(Pair *pair, Process *process, uint32_t run)
{
	Measure    *m = pair->m;

	process->executor.control->seeds[run] = m->facts.seeds_runs ? pair->round.seed[run] : 0;
	return pair->stops || m->backend->bring(m, &process->arena, process->side, run);
}

/*
 * A hand test: the process is stopped, its input comes and its gate opens. Its own work can't have
 * begun, so an output that moves is of work that waited on the device. Leaves the process stopped.
 */
static bool
hand_test(Pair *pair, Process *process, uint32_t run)
{
	Measure    *m = pair->m;
	const Look *look = &pair->round.look[run];
	size_t		size = size_of(m, look);
	uint64_t	address[LOOKS];
	uint64_t	stopped[LOOKS];
	uint64_t	opened[LOOKS];
	int			n = 0;
	ExecutorResult result = executor_freeze(&process->executor);

	if (result != EXECUTOR_OK)
		return measure_failed(m, process->side, &process->executor, result, "in a run");
	if (!m->backend->module)
		n = find_elements(m, process, run, look, LOOKS, address);
	for (; m->backend->module && n < LOOKS && n < process->nremembered; n++)
		address[n] = process->remembered[random_below(&m->random,
													  (uint64_t) process->nremembered)];
	if (!m->backend->peek(m, &process->executor, address, n, size, stopped)
		|| !hand_over(pair, process, run)
		|| (m->inputs.comes_in[look->output]
			&& !m->backend->peek(m, &process->executor, address, n, size, stopped)))
		return false;
	executor_open_gate(&process->executor, run + 1);
	clock_sleep(HAND_SECONDS);
	if (!m->backend->peek(m, &process->executor, address, n, size, opened))
		return false;
	for (int i = 0; i < n; i++)
		if (memcmp(&stopped[i], &opened[i], size) != 0)
			return refuse(m, process, "hand", "an output moved while its process was stopped");
	return true;
}

/*
 * Makes a run, with its seconds. The output is read before the kernel's accounts, in whose time
 * code that has not really ended could go on. False: the run did not end, or after conclude().
 */
static bool
timed_run(Pair *pair, Process *process, uint32_t run, Timing *timing)
{
	Measure    *m = pair->m;
	Executor   *executor = &process->executor;
	bool		by_hand = run == pair->round.hand;
	/* Code that spins could begin on a part of its input. */
	bool		counted = !m->backend->rests && !pair->stops;
	const Look *look = &pair->round.look[run];
	uint64_t	before = 0;
	Reading		from;
	Reading		to;

	if (pair->stops && executor_freeze(executor) != EXECUTOR_OK)
		return false;
	if (!counted
		&& !(look_before(m, process, run, look, &before)
			 && (by_hand ? hand_test(pair, process, run) : hand_over(pair, process, run))))
		return false;
	executor_read_usage(executor, &from, pair->reads);
	/* The clock runs from here on, because code could prepare results after this look. */
	if (counted && !look_before(m, process, run, look, &before))
		return false;
	from.wall = clock_now();
	if (counted && !hand_over(pair, process, run))
		return false;
	if (by_hand)
		executor_thaw(executor);
	else if (!pair->stops)
		executor_open_gate(executor, run + 1);
	else if (!courier_deliver(pair, process, run, &from.wall))
		return false;
	if (!executor_await_run(executor, run))
		return false;
	to.wall = clock_now();
	if (!look_after(m, process, run, look, &before, process->value[run]))
		return false;
	/* The process is stopped before a comparison, and not before the look: it could tell. */
	if (pair->round.place[run] >= 0 && !m->backend->rests
		&& executor_freeze(executor) != EXECUTOR_OK)
		return false;
	executor_read_usage(executor, &to, pair->reads);
	timing->late = to.own_delay - from.own_delay;
	/* A GPU works on while the executor waits for its core. */
	timing->clean = timing->late + (m->backend->rests ? to.delay - from.delay : 0) <= LOST;
	timing->seconds = m->backend->rests ? to.wall - from.wall
		: reading_seconds(executor, &from, &to);
	return true;
}

/*
 * Seconds a run: the median, or the mean without the slowest. Times of long runs, and of cores
 * that another guest slows, have two modes, between which a median jumps.
 */
static double
seconds_of(const Timing *timing, uint32_t n, bool trimmed)
{
	double		seconds[WIRE_MAX_RUNS];
	int			clean = 0;
	int			kept = 0;

	for (uint32_t i = 0; i < n; i++)
		clean += timing[i].counts && timing[i].clean;
	for (uint32_t i = 0; i < n; i++)
		if (timing[i].counts && (clean < CLEAN_LEAST || timing[i].clean))
			seconds[kept++] = timing[i].seconds;
	if (kept == 0)
		return NAN;
	if (!trimmed || kept < CLEAN_LEAST)
		return cudal1_score_median(seconds, (size_t) kept);
	return cudal1_score_trimmed(seconds, (size_t) kept, TRIMMED);
}

/*
 * By how much all runs are longer than if each took these seconds, but for what the supervisor was
 * late. Such runs are not left out, because code could see to it that its long runs are.
 */
static double
above_of(const Timing *timing, uint32_t n, double seconds)
{
	double		above = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		double		excess = timing[i].seconds - seconds;

		above += excess > 0 ? fmax(excess - timing[i].late, 0) : excess;
	}
	return above;
}

/*
 * Reads the outputs of an ended run as a whole, to be compared. What was read at once must still be
 * there. A module's input is overwritten first, so that a result which lies in it is wrong.
 */
static bool
read_compared(Pair *pair, Process *process, uint32_t run, int place)
{
	Measure    *m = pair->m;
	const Look *look = &pair->round.look[run];
	uint32_t	dtype = m->output[look->output].dtype;
	char	   *outputs = process->outputs + (size_t) place * m->output_bytes;
	const char *array = outputs + m->output[look->output].gathered;

	if (m->backend->module)
		m->backend->unstage(m, &process->arena, run);
	if (!measure_read(m, &process->executor, &process->arena, run, run, outputs))
		return false;
	for (int i = 0; i < LOOKS; i++)
	{
		double		at_once = tensor_load(&process->value[run][i], dtype, 0);
		double		now = m->backend->arrays->element(m, array, dtype, look->element[i]);

		if (at_once == now || (isnan(at_once) && isnan(now)))
			continue;
		measure_cause(m, process->side, "unfinished");
		return conclude(m, outcome_of(process->side, OUTCOME_WRONG_OUTPUT), "%s: output %d of a "
						"run changed after the run had ended", name_of_side(process->side),
						look->output);
	}
	return true;
}

void
window_enter(Pair *pair, const Process *process)
{
	Measure    *m = pair->m;

	heat_enter(m, process->member ? process->member : pair->n == 1 ? pair->process[1].member
			   : &m->all);
}

static bool
begin(Pair *pair, Process *process)
{
	Measure    *m = pair->m;
	Executor   *executor = &process->executor;
	uint32_t	flags = m->facts.seeds_runs ? WIRE_FLAG_SEED_RUNS : 0;
	double		limit = measure_run_limit(m, process->side);
	ExecutorResult result;

	window_enter(pair, process);
	if (!m->backend->prepare(m, &process->arena, process->side, pair->round.runs))
		return false;
	process->nwatched = 0;
	/* The first run of a process loads what it needs, unless it was made beside others'. */
	if (!executor->met && !(m->backend->module && m->backend->rests))
		limit *= pair->round.runs;
	result = executor_begin_window(executor, pair->round.runs, flags, limit);
	return measure_failed(m, process->side, executor, result, "in a run");
}

/*
 * What comes between a run's end and the next gate: of drawn runs a rest probe or a comparison, and
 * noise over the result. *turned: the next run does not count, because it finds the core cold.
 */
static bool
after_run(Pair *pair, Process *process, uint32_t run, bool *turned)
{
	Measure    *m = pair->m;
	int			place = pair->round.place[run];
	bool		rests = true;

	*turned = run == pair->round.probed || place >= 0;
	if (run == pair->round.probed && !m->backend->rests(m, &rests))
		return false;
	if (!rests && json_object_get(m->environment, "foreign_processes"))
		return conclude(m, OUTCOME_UNVERIFIED, "a kernel went on after a run had ended, and may be "
						"of another program, which uses this GPU too");
	/* The kernel is not the reference's, whose windows alone had a rest probe each. */
	if (!rests)
		return refuse(m, pair->n == 1 && isfinite(pair->alone) ? &pair->process[1] : process,
					  "rest", "a kernel went on after the run had ended");
	return (place < 0 || read_compared(pair, process, run, place))
		&& leave_noise(m, process, run, &pair->round.look[run])
		&& executor_thaw(&process->executor) == EXECUTOR_OK;
}

bool
window_run(Pair *pair, Process *process)
{
	Measure    *m = pair->m;
	Round	   *round = &pair->round;
	Timing		timing[WIRE_MAX_RUNS];
	double		started = clock_now();
	uint32_t	k = 0;
	uint32_t	n = 0;
	bool		turned = false;
	bool		good = begin(pair, process);
	bool		entered = good;

	for (; good && k < round->runs; k++)
	{
		Timing	   *run = &timing[n];

		if (process->side == SIDE_REFERENCE && !round->both[k])
			continue;
		*run = (Timing) {.counts = n >= round->dropped && k != round->hand && !turned
			&& !round->probe[k]};
		good = timed_run(pair, process, k, run);
		if (!good)
			break;
		n++;
		good = after_run(pair, process, k, &turned);
	}
	if (entered)
	{
		ExecutorResult result = executor_end_window(&process->executor, k == round->runs);

		if (m->result->outcome == OUTCOME_NONE)
			good = measure_failed(m, process->side, &process->executor, result, "in a run")
				&& good;
	}
	process->executor.met = true;
	process->seconds = seconds_of(timing, n, pair->trims);
	process->above = above_of(timing, n, process->seconds);
	measure_spent(m, SPENT_WINDOW, started);
	return good && k == round->runs;
}

/* Draws a kind of probe that a candidate's windows have not had, or any if they have had all. */
static const Probe *
draw_probe(Measure *m, uint32_t *met)
{
	uint32_t	all = (1u << m->facts.probes) - 1;
	uint32_t	kind;

	do
		kind = (uint32_t) random_below(&m->random, (uint64_t) m->facts.probes);
	while (*met != all && (*met & 1u << kind));
	*met |= 1u << kind;
	return &m->facts.probe[kind];
}

/*
 * Makes the inputs of half of the compared runs probes, by lot. Code that knows windows from checks
 * could else do in checks alone what ordinary inputs do not need. Such a run does not count. Its
 * input is made of one that no run has, because code could tell it from the input of another run.
 */
static bool
draw_probes(Pair *pair, const Plan *plan, uint32_t *met)
{
	Measure    *m = pair->m;
	Round	   *round = &pair->round;
	uint32_t	scratch = round->runs;

	/* Else no run of a short window might count. */
	if (m->facts.probes == 0 || plan->runs < round->dropped + 3)
		return true;
	for (uint32_t run = 0; run < round->runs; run++)
	{
		const Probe *probe;
		bool		changed;

		if (round->place[run] < 0 || random_below(&m->random, 2) == 0)
			continue;
		round->probe[run] = probe = draw_probe(m, met);
		if (!m->backend->arrays->copy(m, &pair->arena, run, scratch)
			|| !probes_make(m, &pair->arena, probe->kind, probe->scale, scratch, run, &changed))
			return false;
	}
	return true;
}

bool
window_draw(Pair *pair, const Plan *plan, const Process *candidate)
{
	Measure    *m = pair->m;
	Round	   *round = &pair->round;
	uint32_t	none = 0;
	uint32_t	left = plan->runs;

	*round = (Round) {.runs = candidate ? candidate->runs : plan->runs,.dropped = plan->dropped,
		.hand = UINT32_MAX,.probed = UINT32_MAX};
	for (uint32_t k = 0; k < round->runs; k++)
	{
		Look	   *look = &round->look[k];
		size_t		elements;

		/* The first of all runs lists what those of a module have in common. */
		round->both[k] = k == 0 || random_below(&m->random, round->runs - k) < left;
		left -= round->both[k];
		round->seed[k] = random_next(&m->random);
		/* An output without elements tells nothing. */
		do
			look->output = (int) random_below(&m->random, (uint64_t) m->outputs);
		while ((elements = m->output[look->output].elements) == 0);
		for (int i = 0; i < LOOKS; i++)
			look->element[i] = random_below(&m->random, elements);
	}
	/* Draws one of the two, because each takes runs that would count. */
	if (m->backend->rests && plan->runs > round->dropped + 4)
	{
		uint32_t	k;

		do
			k = round->dropped
				+ (uint32_t) random_below(&m->random, round->runs - round->dropped);
		while (!round->both[k]);
		*(random_below(&m->random, 2) == 0 ? &round->hand : &round->probed) = k;
	}
	/* A run that was compared tells nothing of the others. */
	for (uint32_t k = 0; k < round->runs; k++)
		round->place[k] = round->both[k] && round->compared < plan->compared_most
			&& random_below(&m->random, plan->runs) < plan->compared ? (int) round->compared++ : -1;
	return measure_generate(m, &pair->arena, round->runs)
		&& draw_probes(pair, plan, candidate ? &candidate->member->met : &none)
		&& (!m->backend->load || m->backend->load(m, &pair->arena, round->runs));
}

bool
window_compare(Pair *pair, Process *process)
{
	Measure    *m = pair->m;
	const Process *reference = &pair->process[0];
	const Round *round = &pair->round;
	/* Elements at a step are a share of those that were read, and by chance some more. */
	double		excused = LOOKS;

	heat_enter(m, process->member);
	for (uint32_t k = 0; k < round->runs; k++)
		excused += round->both[k] * m->tolerance[round->look[k].output].misses * LOOKS;
	for (uint32_t k = 0; k < round->runs; k++)
		for (int i = 0; round->both[k] && !round->probe[k] && i < LOOKS; i++)
			if (!measure_agree_at(m, round->look[k].output, round->look[k].element[i],
								  &reference->value[k][i], &process->value[k][i], &excused))
				return false;
	for (uint32_t k = 0; k < round->runs; k++)
	{
		int			place = round->place[k];
		size_t		at = place < 0 ? 0 : (size_t) place * m->output_bytes;
		const char *expected = reference->outputs + at;
		const char *found = process->outputs + at;

		if (place >= 0 && (round->probe[k]
						   ? !probes_compare(m, round->probe[k], expected, found, true)
						   : !measure_compare(m, expected, found)))
			return false;
	}
	for (int i = 0; i < m->outputs; i++)
		if (process->prepared[i] >= PREPARED_LEAST
			&& process->prepared[i] * PREPARED_SHARE >= process->looked[i])
			return refuse(m, process, "prepared", "results were there before their runs began");
	if (process->touched > 1)
		return refuse(m, process, "prepared", "the process works while it waits at its gate");
	if (!process->spread)
		return true;
	measure_cause(m, process->side, "new_memory");
	return conclude(m, outcome_of(process->side, OUTCOME_WRONG_OUTPUT), "%s: results keep coming "
					"where no result has been, in more memory than eight of them need",
					name_of_side(process->side));
}
