/*
 * verdict.c
 *		Which scores get more audits, and how many at least.
 */
#define _GNU_SOURCE
#include "../../runner/verdict.c"
#include "../../runner/values.c"

#include "tap.h"

static Job	job = {.profile = {.audit_sigma = 3,.audit_margin = 0.25}};
static Measure measure = {.job = &job};
static int	made;

bool
rounds_audit(Rounds *s, Half *half, bool reference_first)
{
	made++;
	values_append(&s->audit[SIDE_REFERENCE], 2e-3);
	values_append(&s->audit[SIDE_CANDIDATE], 1e-3);
	values_append(&s->audit_more, -1e-3);
	return true;
}

bool
measure_launch(Measure *m, Executor *executor, Side side, int seat, const Arena *arena, uint64_t weight_seed)
{
	return true;
}

bool
alone_warm(Rounds *s, Half *half, Side side)
{
	return true;
}

double
rounds_estimate(const Rounds *s)
{
	return NAN;
}

/* what verdict.c does elsewhere is not tried here */
void
measure_end(Measure *m, Executor *executor)
{
}

void
measure_progress(Measure *m, const char *phase, int pairs, int rounds, double estimate, double lower, double upper, double left, bool force)
{
}

void
executor_init(Executor *executor)
{
}

uint64_t
random_next(RandomStream *stream)
{
	return 0;
}

bool
conclude(Measure *m, Outcome outcome, const char *format,...)
{
	abort();
}

bool
rounds_inputs(Rounds *s, uint32_t n)
{
	abort();
}

bool
rounds_block(Rounds *s, Half *half, Side side, const uint32_t *slots, uint32_t n, uint32_t keep, double *seconds)
{
	abort();
}

bool
rounds_compare(Rounds *s, uint32_t keep)
{
	abort();
}

/* how many more a score gets that has `audits`, all alike; no time is left for more than must be */
static int
more(double score, int audits, bool planned)
{
	Rounds		s = {.m = &measure,.gated = true,.audits_a_half = planned};

	values_append(&s.buckets, score);
	values_append(&s.times[SIDE_REFERENCE], 2e-3);
	for (int i = 0; i < audits; i++)
		rounds_audit(&s, NULL, true);
	made = 0;
	check(verdict_more_audits(&s), "the measurement goes on");
	free(s.buckets.v);
	free(s.times[SIDE_REFERENCE].v);
	free(s.audit[SIDE_REFERENCE].v);
	free(s.audit[SIDE_CANDIDATE].v);
	free(s.audit_more.v);
	return made;
}

/* what audits leave of a score, where the reference takes 1 ms in them */
static double
bound(double block, double candidate)
{
	Rounds		s = {.m = &measure,.gated = true};
	double		found;

	measure.result.evidence = json_object();
	values_append(&s.times[SIDE_REFERENCE], block);
	for (int i = 0; i < 40; i++)
	{
		values_append(&s.audit[SIDE_REFERENCE], 1e-3);
		values_append(&s.audit[SIDE_CANDIDATE], candidate);
		values_append(&s.audit_more, candidate - 1e-3);
	}
	found = audit_bound(&s, 0);
	json_decref(measure.result.evidence);
	free(s.times[SIDE_REFERENCE].v);
	free(s.audit[SIDE_REFERENCE].v);
	free(s.audit[SIDE_CANDIDATE].v);
	free(s.audit_more.v);
	return found;
}

int
main(void)
{
	check(bound(1e-3, 0.25e-3) > 4, "code that audits find four times as fast may be so");
	check(bound(2e-3, 0.25e-3) > 4, "nor does it pay for a host that slows blocks more than audits");
	check(bound(2e-3, 1e-3) < 1.15 && bound(0.5e-3, 1e-3) < 1.15, "code that audits find no faster is not, on whatever host");
	check(bound(1e-3, 0.5e-3) < 3 && bound(2e-3, 0.5e-3) < 3, "code that audits find twice as fast is hardly faster");
	check(more(1.2, 3, true) == 5, "a score above 1 that few audits confirm gets those that a bound needs");
	check(more(2.0, 0, true) == 8, "a high score that no audit confirms gets them, too");
	check(more(1.2, 8, true) == 0, "a score that enough audits confirm gets no more");
	check(more(0.9, 3, true) == 0, "a score that no bound can lower gets none");
	check(more(1.2, 0, false) == 0, "where none are planned, none are made");
	return done();
}
