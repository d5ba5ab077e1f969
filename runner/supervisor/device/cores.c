/*
 * cores.c
 *		Which cores of a host its devices use, and which all else.
 *
 * Two hardware threads of one core share its units, so work on one may take half of the other's
 * speed. Where the host has enough cores, no two devices have threads of the same core, and
 * supervisors and the programs that they start keep off the cores of devices.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "supervisor/device/cores.h"

#define CHOICE	5				/* cores that a GPU may have beside its own */

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
		char	   *end;
		long		from = strtol(list, &end, 10);
		long		to = from;

		if (end == list)
			return false;
		if (*end == '-')
		{
			list = end + 1;
			to = strtol(list, &end, 10);
			if (end == list)
				return false;
		}
		if (from < 0 || to < from || to >= CPU_SETSIZE)
			return false;
		for (long i = from; i <= to; i++)
			CPU_SET(i, cores);
		if (*end == ',')
			end++;
		else if (*end)
			return false;
		list = end;
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
	bool		known = false;

	snprintf(path, sizeof(path), CUDAL1_SIBLINGS, thread);
	file = fopen(path, "re");
	if (file)
	{
		known = fscanf(file, "%1023s", list) == 1 && cores_parse(list, threads)
			&& CPU_ISSET(thread, threads);
		fclose(file);
	}
	if (!known)
	{
		CPU_ZERO(threads);
		CPU_SET(thread, threads);
	}
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

/* a host's cores, the last first, each by its last thread */
typedef struct Cores
{
	int			thread[CPU_SETSIZE];
	int			n;
} Cores;

static void
list_cores(const cpu_set_t *allowed, Cores *cores)
{
	cpu_set_t	left = *allowed;

	cores->n = 0;
	for (int thread = CPU_SETSIZE - 1; thread >= 0; thread--)
		if (CPU_ISSET(thread, &left))
		{
			cpu_set_t	one;

			CPU_ZERO(&one);
			CPU_SET(thread, &one);
			remove_cores(&left, &one);
			cores->thread[cores->n++] = thread;
		}
}

/* A host with fewer cores than devices and one more shares them out by threads. */
static int
device_of(const cpu_set_t *allowed, const Cores *cores, int number, int gpus)
{
	int			first = 0;

	if (gpus + 2 <= cores->n)
		return cores->thread[number];
	for (int i = CPU_SETSIZE - 1; i >= 0; i--)
		if (CPU_ISSET(i, allowed))
		{
			first = i;
			if (number-- == 0)
				break;
		}
	return first;
}

/*
 * The core of a device: of the CPU device (number 0) the last one, since the first get the
 * interrupts and the server's other work, of GPUs (from 1) those before it.
 */
int
cores_device(const cpu_set_t *allowed, int number, int gpus)
{
	Cores		cores;

	list_cores(allowed, &cores);
	return device_of(allowed, &cores, number, gpus);
}

/*
 * The core of a GPU, and others that its executors may have in its place. All devices' together are
 * no more than half of the host's. A GPU's others follow each other, because neighbours may be
 * threads of one core unknown to the kernel; the last GPU's follow its own core.
 */
static void
choice_of(const cpu_set_t *allowed, const Cores *cores, int number, int gpus, cpu_set_t *choice)
{
	int			others = (cores->n / 2 - 1) / gpus - 1;

	others = others < CHOICE ? others : CHOICE;
	CPU_ZERO(choice);
	CPU_SET(device_of(allowed, cores, number, gpus), choice);
	for (int i = 1; i <= others; i++)
		CPU_SET(cores->thread[gpus + (gpus - number) * others + i], choice);
}

void
cores_choice(const cpu_set_t *allowed, int number, int gpus, cpu_set_t *choice)
{
	Cores		cores;

	list_cores(allowed, &cores);
	choice_of(allowed, &cores, number, gpus, choice);
}

/*
 * What is left beside a device's cores for its supervisor, and what that starts. Off all devices'
 * cores, where that leaves each GPU's supervisor one to wait on without sleeping, and one for the
 * rest; or off its own; or off its threads.
 */
static void
cores_others(const cpu_set_t *allowed, const cpu_set_t *own, int gpus, cpu_set_t *others)
{
	cpu_set_t	devices = *own;
	Cores		cores;

	list_cores(allowed, &cores);
	CPU_SET(device_of(allowed, &cores, 0, gpus), &devices);
	for (int i = 1; i <= gpus; i++)
	{
		cpu_set_t	choice;

		choice_of(allowed, &cores, i, gpus, &choice);
		CPU_OR(&devices, &devices, &choice);
	}
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

/*
 * keeps this process, and what it starts, to the threads left beside a device's cores, if any are;
 * returns how many
 */
int
cores_keep_off(const cpu_set_t *allowed, const cpu_set_t *own, int gpus)
{
	cpu_set_t	others;

	cores_others(allowed, own, gpus, &others);
	if (CPU_COUNT(&others) > 0)
		sched_setaffinity(0, sizeof(others), &others);
	return CPU_COUNT(&others);
}
