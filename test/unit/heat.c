/*
 * heat.c
 *		What becomes of scores that no code can have.
 */
#define _GNU_SOURCE
#include "../../runner/supervisor/heat.c"

#include "tap.h"

static const Backend backend = {.light_rate = 1e12};
static Job	job = {.reference = ""};

/* a code that writes a million bytes; what is not successful has no score */
static Outcome
concluded(int cores, double seconds)
{
	Measure		m = {.job = &job,.backend = &backend,.output_bytes = 1000000};
	Outcome		outcome;

	job.cores = cores;
	heat_init(&m, 0, 1);
	m.members[0].result.outcome = OUTCOME_SUCCESSFUL;
	m.members[0].result.score = 2;
	values_append(&m.members[0].result.candidate, seconds);
	heat_conclude(&m);
	outcome = m.members[0].result.outcome;
	if ((outcome == OUTCOME_SUCCESSFUL) != (isfinite(m.members[0].result.score) != 0))
		outcome = OUTCOME_NONE;
	heat_free(&m);
	return outcome;
}

int
main(void)
{
	check(concluded(1, 1.1e-6) == OUTCOME_SUCCESSFUL, "a run takes what writing outputs takes");
	check(concluded(1, 0.9e-6) == OUTCOME_UNVERIFIED, "one that takes less is no measurement");
	check(concluded(4, 0.9e-6) == OUTCOME_SUCCESSFUL, "four cores write four times as fast");
	return done();
}
