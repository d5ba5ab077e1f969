/*
 * heat.c
 *		Candidates of one task that are measured together.
 *
 * They share builds and checks; those that share a pair, too, are a group. Measure holds what they
 * share, a Member what is one's own. One member is current: outcomes, figures and seconds are its
 * own. While work is done for all, the member `all` is current, which has no code: an outcome then
 * is everyone's, and seconds are shared out. If one candidate is left, it is current instead, so a
 * measurement of one has nothing to share.
 */
#include "supervisor/backend.h"

static void
init(Measure *m, Member *member, const char *source)
{
	member->code.source = source;
	member->code.source_fd = -1;
	member->result.evidence = json_object();
	member->result.score = NAN;
	member->result.stop = (Stop) {&m->job->profile,.lower = NAN,.upper = NAN,.half_width = NAN};
}

void
heat_init(Measure *m, int first, int n)
{
	m->members = measure_zeroed((size_t) n, sizeof(*m->members));
	m->nmembers = n;
	m->reference.source = m->job->reference;
	m->reference.source_fd = -1;
	m->code[SIDE_REFERENCE] = &m->reference;
	m->environment = json_object();
	init(m, &m->all, "");
	for (int i = 0; i < n; i++)
	{
		m->members[i].number = first + i;
		init(m, &m->members[i], m->job->candidate[first + i].code);
	}
	heat_enter_all(m);
}

void
heat_free(Measure *m)
{
	for (int i = 0; i < m->nmembers; i++)
		json_decref(m->members[i].result.evidence);
	json_decref(m->all.result.evidence);
	json_decref(m->environment);
	free(m->members);
}

void
heat_enter(Measure *m, Member *member)
{
	double		now = clock_now();

	/* Seconds count only while the device is held. */
	if (m->member && m->device.locked_at > 0)
		m->result->device_seconds += now - fmax(m->entered, m->device.locked_at);
	m->entered = now;
	m->member = member;
	m->result = &member->result;
	m->code[SIDE_CANDIDATE] = &member->code;
}

int
heat_left(const Measure *m)
{
	int			n = 0;

	for (int i = 0; i < m->nmembers; i++)
		n += m->members[i].result.outcome == OUTCOME_NONE;
	return m->all.result.outcome == OUTCOME_NONE ? n : 0;
}

bool
heat_next(Measure *m, int *i)
{
	if (m->all.result.outcome != OUTCOME_NONE)
		return false;
	while (*i < m->nmembers && m->members[*i].result.outcome != OUTCOME_NONE)
		(*i)++;
	if (*i == m->nmembers)
		return false;
	heat_enter(m, &m->members[*i]);
	return true;
}

void
heat_enter_all(Measure *m)
{
	int			only = 0;

	if (heat_left(m) != 1 || !heat_next(m, &only))
		heat_enter(m, &m->all);
}

void
heat_share_among(Measure *m, Member *const *members, int n)
{
	Result	   *all = &m->all.result;
	int			left = 0;

	heat_enter(m, m->member);
	for (int i = 0; i < n; i++)
		left += members[i]->result.outcome == OUTCOME_NONE;
	for (int i = 0; i < n; i++)
	{
		Result	   *r = &members[i]->result;
		double		share = left == 0 ? 1.0 / n : r->outcome == OUTCOME_NONE ? 1.0 / left : 0;

		r->device_seconds += share * all->device_seconds;
		r->build_seconds += share * all->build_seconds;
		for (int s = 0; s < SPENDINGS; s++)
			r->spent[s] += share * all->spent[s];
	}
	all->device_seconds = all->build_seconds = 0;
	memset(all->spent, 0, sizeof(all->spent));
}

void
heat_share(Measure *m)
{
	Member	   *members[HEAT_MAX];

	for (int i = 0; i < m->nmembers; i++)
		members[i] = &m->members[i];
	heat_share_among(m, members, m->nmembers);
}

double
heat_seconds(const Measure *m)
{
	return m->result->device_seconds + clock_now() - fmax(m->entered, m->device.locked_at)
		- m->result->spent[SPENT_BUILD];
}

/* Outputs are written in no less time than this, so a run that took less wrote something else. */
static void
refuse_light(const Measure *m, Result *r)
{
	double		seconds = values_median(&r->candidate);
	double		least;

	if (r->outcome != OUTCOME_SUCCESSFUL || !(seconds > 0))
		return;
	least = (double) m->output_bytes / (m->backend->light_rate * m->job->cores);
	if (seconds >= least)
		return;
	r->outcome = OUTCOME_UNVERIFIED;
	snprintf(r->detail, sizeof(r->detail), "a run took %.3g s, and writing its outputs takes "
			 "%.3g s or more: this was no measurement", seconds, least);
	r->score = NAN;
	r->stop.ratios.n = 0;
}

void
heat_conclude(Measure *m)
{
	const Result *all = &m->all.result;

	heat_share(m);
	for (int i = 0; i < m->nmembers; i++)
	{
		Member	   *member = &m->members[i];
		Result	   *r = &member->result;

		if (r->outcome == OUTCOME_NONE)
		{
			r->outcome = all->outcome;
			memcpy(r->detail, all->detail, sizeof(r->detail));
			member->killed = m->all.killed;
		}
		refuse_light(m, r);
		json_object_update_missing(r->evidence, all->evidence);
		r->wall_seconds = clock_now() - m->started;
	}
}
