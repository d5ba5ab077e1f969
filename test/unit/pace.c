/*
 * pace.c
 *		The quickest of several cores: one of them, and the caller is where it was.
 */
#include "../../runner/supervisor/device/pace.c"

#include "tap.h"

int
main(void)
{
	cpu_set_t	before;
	cpu_set_t	after;
	cpu_set_t	one;
	int			first = 0;
	int			quickest;

	sched_getaffinity(0, sizeof(before), &before);
	while (!CPU_ISSET(first, &before))
		first++;
	quickest = pace_quickest(&before, first);
	check(CPU_ISSET(quickest, &before), "one of those that may be used");
	sched_getaffinity(0, sizeof(after), &after);
	check(CPU_EQUAL(&before, &after), "the caller keeps its cores");
	CPU_ZERO(&one);
	CPU_SET(CPU_SETSIZE - 1, &one);
	check(pace_quickest(&one, first) == first, "one core is no choice");
	CPU_SET(CPU_SETSIZE - 2, &one);
	check(pace_quickest(&one, first) == first, "nor are cores that this host has not");
	return done();
}
