/*
 * pages.c
 *		Shared memory in huge pages: where files are mapped, and what an arena's slots lie in.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int	noted_advice(void *address, size_t bytes, int advice);

#define madvise noted_advice
#include "../../runner/process/arena.c"
#undef madvise
#include "tap.h"

#define SLOT	((size_t) 1 << 20)

static size_t advised;
static bool refused;

/* the kernel may have no huge pages of shared memory, or none left */
static int
noted_advice(void *address, size_t bytes, int advice)
{
	advised += bytes;
	refused |= madvise(address, bytes, advice) != 0;
	return 0;
}

static size_t
address_space(void)
{
	FILE	   *file = fopen("/proc/self/statm", "r");
	size_t		pages = 0;

	if (!file || fscanf(file, "%zu", &pages) != 1)
		abort();
	fclose(file);
	return pages * (size_t) getpagesize();
}

/* bytes of a mapping that huge pages map */
static size_t
in_huge_pages(const void *address)
{
	FILE	   *file = fopen("/proc/self/smaps", "r");
	char		line[512];
	bool		here = false;
	size_t		found = 0;

	while (file && fgets(line, sizeof(line), file))
	{
		unsigned long start,
					end;
		size_t		kilobytes;

		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			here = start == (unsigned long) address;
		else if (here && sscanf(line, "ShmemPmdMapped: %zu kB", &kilobytes) == 1)
			found = kilobytes << 10;
	}
	if (file)
		fclose(file);
	return found;
}

static void
check_maps(void)
{
	static const size_t sizes[] = {1, 4096, HUGE_PAGE - 1, HUGE_PAGE, HUGE_PAGE + 4097};
	bool		aligned = true;
	bool		whole = true;
	size_t		before = address_space();

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		void	   *memory;
		int			fd = shared_memory("map", sizes[i], 0, &memory);

		aligned = aligned && (sizes[i] < HUGE_PAGE || (uintptr_t) memory % HUGE_PAGE == 0);
		memset(memory, 7, sizes[i]);
		whole = whole && pread(fd, &(char) {0}, 1, (off_t) sizes[i] - 1) == 1
			&& ((char *) memory)[sizes[i] - 1] == 7;
		munmap(memory, sizes[i]);
		close(fd);
	}
	check(aligned, "a file of a huge page's size or more lies at a multiple of it");
	check(whole, "as a whole");
	check(address_space() == before, "with nothing mapped around it that stays");
}

static void
check_arena(void)
{
	Arena		arena;
	bool		blank = true;

	if (!arena_create(&arena, 9, SLOT, SLOT, false))
		abort();
	for (size_t i = 0; i < 9 * SLOT; i++)
		blank = blank && arena.inputs[i] == 0 && arena.outputs[i] == 0;
	check(blank, "new slots are blank");
	check(advised == 16 * SLOT,
		  "the kernel is asked for huge pages, but for what is less than one");
	if (!refused)
		check(in_huge_pages(arena.inputs) == 8 * SLOT && in_huge_pages(arena.outputs) == 8 * SLOT,
			  "and slots lie in them");
	else
		printf("ok %d # SKIP the kernel gives no huge pages\n", ++tests);
	arena_destroy(&arena);
}

int
main(void)
{
	check_maps();
	check_arena();
	return done();
}
