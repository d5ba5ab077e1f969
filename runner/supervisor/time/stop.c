/*
 * stop.c
 *		The stopping criterion: when pairs are enough.
 *
 * Pairs are independent, because each has fresh processes and fresh memory. The interval is looked
 * at when their number is one of the profile's `looks`, among which the error is divided. The
 * measurement ends at the first look that finds the interval narrow, at the last look, or when the
 * budget of device time is used up.
 */
#include "src/score.h"
#include "supervisor/time/time.h"

static double
width_for(const Stop *stop, double width)
{
	return cudal1_score_width(values_median(&stop->ratios), width);
}

/* a width that is not known yet may be narrow */
static bool
is_narrow(const Stop *stop, double half_width)
{
	return stop->profile->precision_goal > 0
		&& !(half_width > width_for(stop, stop->profile->precision_goal));
}

static double
left_after(const Stop *stop, double seconds)
{
	const Profile *p = stop->profile;
	int			to = p->looks[p->nlooks - 1];

	/* an interval shrinks with the root of the number of pairs */
	for (int i = p->nlooks - 1; i >= 0 && p->looks[i] > (int) stop->ratios.n; i--)
		if (is_narrow(stop, stop->half_width * sqrt((double) stop->ratios.n / p->looks[i])))
			to = p->looks[i];
	return fmax(0, fmin((to / (double) stop->ratios.n - 1) * seconds, p->budget_seconds - seconds));
}

bool
stop_is_finished(Stop *stop, double seconds)
{
	const Profile *p = stop->profile;
	bool		look = false;
	bool		over = seconds > p->budget_seconds && stop->ratios.n >= 2;
	bool		enough = over || (stop->ratios.n >= 2 && stop->ratios.n >= (size_t) p->pairs);
	bool		last = stop->ratios.n >= (size_t) p->looks[p->nlooks - 1];

	for (int i = 0; i < p->nlooks; i++)
		look = look || stop->ratios.n == (size_t) p->looks[i];
	stop->estimate = p->mean ? cudal1_score_mean(stop->ratios.v, stop->ratios.n)
		: values_median(&stop->ratios);
	if (enough)
		cudal1_score_interval(stop->ratios.v, stop->ratios.n, p->confidence, p->nlooks,
							  &stop->lower, &stop->upper, &stop->half_width);
	stop->wide = p->half_width_limit > 0
		&& stop->half_width > width_for(stop, p->half_width_limit);
	stop->left = left_after(stop, seconds);
	return enough && (last || over || (look && is_narrow(stop, stop->half_width)));
}
