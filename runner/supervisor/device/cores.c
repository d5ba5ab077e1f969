/*
 * cores.c
 *		Which cores of a host its devices use, and which all else.
 *
 * Two hardware threads of one core share its units, so work on one may take half of the other's
 * speed. Where the host has enough cores, no two devices have threads of the same core, and
 * supervisors and the programs that they start keep off the cores of devices.
 */
#include <stdio.h>

#include "supervisor/device/device.h"

/* a test brings a host of its own */
#ifndef CUDAL1_SIBLINGS
#define CUDAL1_SIBLINGS "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list"
#endif

/* "1" or "2-3,6" */
bool
cores_parse(const char *list, cpu_set_t *cores)
{
	CPU_ZERO(cores);
	while (*list)
	{
		int			from = -1;
		int			to;
		int			length;

		if (sscanf(list, "%d%n-%d%n", &from, &length, &to, &length) < 2)
			to = from;
		if (from < 0 || to < from || to >= CPU_SETSIZE
			|| (list[length] && list[length] != ','))
			return false;
		for (int i = from; i <= to; i++)
			CPU_SET(i, cores);
		list += length + (list[length] == ',');
	}
	return CPU_COUNT(cores) > 0;
}

/* all threads of a thread's core; of one that the kernel does not tell, itself */
static void
siblings(int thread, cpu_set_t *threads)
{
	char		path[128];
	char		list[1024];
	FILE	   *file;

	snprintf(path, sizeof(path), CUDAL1_SIBLINGS, thread);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%1023s", list) != 1 || !cores_parse(list, threads)
		|| !CPU_ISSET(thread, threads))
	{
		CPU_ZERO(threads);
		CPU_SET(thread, threads);
	}
	if (file)
		fclose(file);
}

static void
remove_cores(cpu_set_t *from, const cpu_set_t *cores)
{
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, cores))
		{
			cpu_set_t	threads;

			siblings(i, &threads);
			CPU_AND(&threads, &threads, from);
			CPU_XOR(from, from, &threads);
		}
}

/* the last `n` threads, or those of cores of their own; returns how many there are */
static int
last_threads(const cpu_set_t *allowed, bool apart, int n, int *threads)
{
	cpu_set_t	left = *allowed;
	int			found = 0;

	for (int thread = CPU_SETSIZE - 1; thread >= 0 && found < n; thread--)
		if (CPU_ISSET(thread, &left))
		{
			cpu_set_t	one;

			CPU_ZERO(&one);
			CPU_SET(thread, &one);
			if (apart)
				remove_cores(&left, &one);
			threads[found++] = thread;
		}
	return found;
}

/*
 * The core of a device: of the CPU device (number 0) the last one, since the first get the
 * interrupts and the server's other work, of GPUs (from 1) those before it. A host with fewer cores
 * than devices and one more shares them out by threads.
 */
int
cores_device(const cpu_set_t *allowed, int number, int gpus)
{
	int			threads[CPU_SETSIZE] = {0};
	int			found = last_threads(allowed, true, gpus + 2, threads);

	if (found < gpus + 2)
		found = last_threads(allowed, false, number + 1, threads);
	while (number > 0 && number >= found)
		number--;
	return threads[number];
}

/*
 * Cores for a device's supervisor and what that starts, beside the device's own. Off all devices'
 * cores, where that leaves each GPU's supervisor one to wait on without sleeping, and one for the
 * rest; or off its own; or off its threads.
 */
static void
cores_others(const cpu_set_t *allowed, const cpu_set_t *own, int gpus, cpu_set_t *others)
{
	cpu_set_t	devices = *own;

	for (int i = 0; i <= gpus; i++)
		CPU_SET(cores_device(allowed, i, gpus), &devices);
	*others = *allowed;
	remove_cores(others, &devices);
	if (CPU_COUNT(others) >= 2 && CPU_COUNT(others) > gpus)
		return;
	*others = *allowed;
	remove_cores(others, own);
	if (CPU_COUNT(others) >= 2)
		return;
	CPU_XOR(others, allowed, own);
}

/* keeps this process and its children to the threads beside a device's cores; returns how many */
int
cores_keep_off(const cpu_set_t *allowed, const cpu_set_t *own, int gpus)
{
	cpu_set_t	others;

	cores_others(allowed, own, gpus, &others);
	if (CPU_COUNT(&others) > 0)
		sched_setaffinity(0, sizeof(others), &others);
	return CPU_COUNT(&others);
}
