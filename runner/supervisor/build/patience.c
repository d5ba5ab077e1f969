/*
 * patience.c
 *		How long a build has had: not what other programs of the host kept it waiting.
 *
 * Compiling what includes PyTorch's headers takes half a minute of a core. On a host whose cores
 * many programs want it takes several minutes, and the code is as right as elsewhere. So a build
 * is charged with its CPU time while a process of it is ready to run, or one without children waits
 * for a disk, and with all time where every process of it sleeps.
 */
#define _GNU_SOURCE
#include <math.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/proc.h"
#include "process/executor.h"
#include "process/sandbox.h"
#include "supervisor/build/build.h"

#define LOOK_EVERY		0.25	/* seconds */
#define BUSY_MOST		10.0	/* times its limit that a build may take on a busy host */
#define MOST_PROCESSES	512		/* that are looked at */

/* what a process and its descendants have had, and whether one of them wants a core now */
static void
look(pid_t pid, int *left, BuildUse *use)
{
	ProcStat	stat = {.state = 0};
	char		children[32];
	FILE	   *file;
	int			child;
	bool		parent = false;

	if ((*left)-- <= 0)
		return;
	if (proc_stat(pid, &stat))
		use->cpu += (double) stat.ticks / (double) sysconf(_SC_CLK_TCK);
	use->wants = use->wants || stat.state == 'R';
	snprintf(children, sizeof(children), "task/%d/children", (int) pid);
	file = proc_open(pid, children);
	for (; file && fscanf(file, "%d", &child) == 1; parent = true)
		look((pid_t) child, left, use);
	if (file)
		fclose(file);
	/* a parent may wait so for what it has started by vfork() */
	use->wants = use->wants || (stat.state == 'D' && !parent);
}

void
build_charge(BuildUse *use, double seconds, double cpu, bool wants)
{
	/* an ended child is not counted until its parent has waited for it */
	double		had = fmax(cpu - use->cpu, 0);

	use->charged += wants ? fmin(had, seconds) : seconds;
	use->cpu = fmax(use->cpu, cpu);
}

bool
build_wait(pid_t pid, double seconds, int *status)
{
	double		started = clock_now();
	double		last = started;
	BuildUse	use = {0};

	while (!executor_cancelled && use.charged < seconds && last - started < BUSY_MOST * seconds)
	{
		BuildUse	now = {0};
		int			left = MOST_PROCESSES;
		double		before = last;

		if (sandbox_wait(pid, fmin(LOOK_EVERY, seconds - use.charged), status))
			return true;
		look(pid, &left, &now);
		last = clock_now();
		build_charge(&use, last - before, now.cpu, now.wants);
	}
	return false;
}
