/*
 * places.c
 *		Code moves to other memory while threads run it, and code that has changed itself stays.
 */
#define _GNU_SOURCE
#include "../../runner/executor/places.c"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "tap.h"

#define DRAWS	5000

static atomic_int ended;

static __attribute__((noinline)) long
work(unsigned long n)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++)
		sum += i ^ (sum >> 3);
	return (long) (sum >> 1);
}

/* the next page of code but one at least, so that changing it leaves `work` as it is */
static __attribute__((noinline, aligned(8192))) int
changed(void)
{
	return 1;
}

static void *
run(void *expected)
{
	bool		good = true;

	while (!ended)
		good = good && work(1000) == *(long *) expected;
	return good ? expected : NULL;
}

/* the place in the file of what is mapped at an address; -1: it is no shared memory */
static long
place(const void *address)
{
	FILE	   *maps = fopen("/proc/self/maps", "r");
	char		line[500];
	long		found = -1;

	while (maps && fgets(line, sizeof(line), maps))
	{
		unsigned long start,
					end,
					offset;
		char		rights[5];

		if (sscanf(line, "%lx-%lx %4s %lx", &start, &end, rights, &offset) == 4
			&& (unsigned long) address >= start && (unsigned long) address < end)
			found = strcmp(rights, "r-xs") == 0 ? (long) (offset + (unsigned long) address - start)
				: -1;
	}
	if (maps)
		fclose(maps);
	return found;
}

int
main(void)
{
	long		expected = work(1000);
	long		seen[8];
	int			different = 0;
	pthread_t	thread;
	void	   *good = NULL;
	char	   *page = (char *) ((uintptr_t) changed & ~(PAGE - 1));

	places_draw();
	check(place(work) == -1, "without memory for copies code stays where it is");
	places_reserve();
	places_fill(work);
	check(code != NULL && place(work) == -1, "copies are made, and the code is where it was");
	pthread_create(&thread, NULL, run, &expected);
	for (int i = 0; i < DRAWS; i++)
		places_draw();
	for (int i = 0; i < 8; i++)
	{
		places_draw();
		seen[i] = place(work);
		for (int j = 0; j < i; j++)
			different += seen[j] != seen[i];
	}
	ended = 1;
	pthread_join(thread, &good);
	check(seen[0] >= 0 && different > 14, "it moves from place to place");
	check(good != NULL, "while a thread runs it");

	check(mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0
		  && *(unsigned char *) changed != 0xC3, "code may change itself");
	for (int i = 0; i < 16; i++)
		if (((unsigned char *) changed)[i] == 1)
			((unsigned char *) changed)[i] = 2;
	seen[0] = place(work);
	places_draw();
	check(changed() == 2 && code == NULL && place(work) == seen[0], "and then stays as it is");
	return done();
}
