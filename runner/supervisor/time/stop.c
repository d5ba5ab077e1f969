/*
 * stop.c
 *		The stopping criterion: when pairs are enough.
 *
 * Pairs are independent, because each has fresh processes and fresh memory. The interval is looked
 * at when their number is one of the profile's `looks`, among which the error is divided. The
 * measurement ends at the first look that finds the interval narrow, at the last look, or when the
 * budget of device time is used up.
 */
#include <math.h>
#include <stdlib.h>

#include "src/score.h"
#include "supervisor/time/time.h"

void
stop_init(Stop *stop, const Profile *profile)
{
	*stop = (Stop) {.profile = profile, .lower = NAN, .upper = NAN, .half_width = NAN};
}

bool
stop_add(Stop *stop, double ratio)
{
	double	   *pair = realloc(stop->pair, (stop->n + 1) * sizeof(*pair));

	if (!pair)
		return false;
	stop->pair = pair;
	stop->pair[stop->n++] = ratio;
	return true;
}

static double
width_for(const Stop *stop, double width)
{
	return cudal1_score_width(cudal1_score_median(stop->pair, stop->n), width);
}

double
stop_left(const Stop *stop, double seconds)
{
	const Profile *p = stop->profile;
	double		goal = width_for(stop, p->precision_goal);
	int			to = p->looks[p->nlooks - 1];

	/* an interval shrinks with the root of the number of pairs */
	for (int i = p->nlooks - 1; i >= 0 && p->looks[i] > (int) stop->n; i--)
		if (p->precision_goal > 0
			&& !(stop->half_width * sqrt((double) stop->n / p->looks[i]) > goal))
			to = p->looks[i];
	return stop->n == 0 ? NAN
		: fmax(0, fmin((to / (double) stop->n - 1) * seconds, p->budget_seconds - seconds));
}

bool
stop_is_finished(Stop *stop, double seconds)
{
	const Profile *p = stop->profile;
	bool		look = false;
	bool		over = seconds > p->budget_seconds && stop->n >= 2;
	bool		last = stop->n >= (size_t) p->looks[p->nlooks - 1];

	for (int i = 0; i < p->nlooks; i++)
		look = look || stop->n == (size_t) p->looks[i];
	if (stop->n < 2 || stop->n < (size_t) p->pairs)
	{
		if (!over)
			return false;
	}
	cudal1_score_interval(stop->pair, stop->n, p->confidence, p->nlooks, &stop->lower,
						  &stop->upper, &stop->half_width);
	stop->wide = p->half_width_limit > 0
		&& stop->half_width > width_for(stop, p->half_width_limit);
	return last || over || (look && p->precision_goal > 0
							&& stop->half_width <= width_for(stop, p->precision_goal));
}
