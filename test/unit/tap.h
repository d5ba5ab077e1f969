/*
 * tap.h
 *		What a unit test prints: a line for each promise, and at the end how many there were.
 */
#ifndef CUDAL1_TAP_H
#define CUDAL1_TAP_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

static int	tests = 0;
static int	failures = 0;

static inline void
check(bool passed, const char *promise)
{
	tests++;
	failures += !passed;
	printf("%s %d - %s\n", passed ? "ok" : "not ok", tests, promise);
}

static inline bool
near(double value, double expected, double relative)
{
	bool		is_near = fabs(value - expected) <= relative * fmax(fabs(expected), 1e-300);

	if (!is_near)
		printf("# got %.17g, expected %.17g\n", value, expected);
	return is_near;
}

/* prints the plan; the program's exit status */
static inline int
done(void)
{
	printf("1..%d\n", tests);
	return failures > 0;
}

#endif
