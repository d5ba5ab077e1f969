/*
 * outputs.c
 *		What an executor does with its outputs (guard.c): it finds those that are no memory of their
 *		own, and makes pages that no run has written.
 */
#define _GNU_SOURCE
#include "../../runner/executor/guard.c"
#include "../../runner/common/random.c"
#include "../../runner/common/tensor.c"

#include "tap.h"

#define OUTPUTS	40
#define PAGES	40				/* of an output; so many are asked for before they are made */

static WireTensor table[OUTPUTS];

/*
 * the outputs lie one after the other with `between` pages from each end to the next beginning,
 * backwards if `step` is -1
 */
static char *
lay_out(int between, int step)
{
	size_t		apart = (size_t) (PAGES + between) * PAGE_BYTES;
	char *memory = mmap(
		NULL, OUTPUTS * apart, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < OUTPUTS; i++)
		table[i] = (WireTensor){
			(uint64_t) (uintptr_t) memory + (size_t) (step < 0 ? OUTPUTS - 1 - i : i) * apart,
			WIRE_FLOAT32, 2, {PAGES, PAGE_BYTES / 4}, {PAGE_BYTES / 4, 1}};
	return memory;
}

/* pages of the outputs, and of what lies between them, that are there */
static void
count(char *memory, int between, int *own, int *others)
{
	static unsigned char there[OUTPUTS * (PAGES + 200)];

	*own = *others = 0;
	if (mincore(memory, OUTPUTS * (size_t) (PAGES + between) * PAGE_BYTES, there) != 0)
		return;
	for (int i = 0; i < OUTPUTS * (PAGES + between); i++)
		*(i % (PAGES + between) < PAGES ? own : others) += there[i] & 1;
}

static bool
makes_pages(int between, int step, bool holes)
{
	char	   *memory = lay_out(between, step);
	int			own;
	int			others;
	bool		good;

	/* some are written already */
	memory[0] = 1;
	memset((char *) (uintptr_t) table[3].address, 7, PAGES * PAGE_BYTES);
	if (holes)
		for (int i = 0; i < OUTPUTS; i++)
			munmap((char *) (uintptr_t) table[i].address + PAGES * PAGE_BYTES,
				(size_t) between * PAGE_BYTES);
	(void) cudal1_guard_find_shared(table, 0, OUTPUTS, true);
	good = memory[0] == 1 && *(char *) (uintptr_t) table[3].address == 7;
	for (int i = 0; holes && i < OUTPUTS; i++)
	{
		unsigned char there[PAGES];

		good = good
			&& mincore((void *) (uintptr_t) table[i].address, PAGES * PAGE_BYTES, there) == 0
			&& !memchr(there, 0, PAGES);
	}
	if (!holes)
	{
		count(memory, between, &own, &others);
		good = good && own == OUTPUTS * PAGES && others == 0;
	}
	munmap(memory, OUTPUTS * (size_t) (PAGES + between) * PAGE_BYTES);
	return good;
}

/* what lies at `address` with these strides: the first that must be copied */
static uint64_t
shared(uint64_t address, int64_t stride0, int64_t stride1)
{
	table[OUTPUTS / 2].address = address;
	table[OUTPUTS / 2].stride[0] = stride0;
	table[OUTPUTS / 2].stride[1] = stride1;
	return cudal1_guard_find_shared(table, 0, OUTPUTS, false);
}

/* whether the second output is found, which lies so */
static bool
is_shared(uint64_t address, int64_t stride0, int64_t stride1)
{
	uint64_t	found;
	WireTensor	before = table[1];

	table[1].address = address;
	table[1].stride[0] = stride0;
	table[1].stride[1] = stride1;
	found = cudal1_guard_find_shared(table, 0, 2, false);
	table[1] = before;
	return found == 1;
}

/* the first that must be copied of pieces of an array, each half of its columns, so far apart */
static uint64_t
pieces(int64_t apart)
{
	WireTensor	piece[2] = {table[0], table[0]};

	piece[0].shape[1] = piece[1].shape[1] = PAGE_BYTES / 8;
	piece[1].address += (uint64_t) apart * 4;
	return cudal1_guard_find_shared(piece, 0, 2, false) == 2 ? OUTPUTS : 1;
}

int
main(void)
{
	uint64_t	kept[] = {1000, 2000, 5000, 6000};
	char	   *memory = lay_out(0, 1);
	uint64_t	own;
	int			row = PAGE_BYTES / 4;
	int			there;
	int			others;

	check(makes_pages(0, 1, false) && makes_pages(0, -1, false),
		"pages that were not written are made, those that were are left as they are");
	check(makes_pages(3, 1, false) && makes_pages(100, -1, false),
		"what lies between outputs is not made");
	check(makes_pages(3, 1, true) && makes_pages(100, 1, true), "nor need it be mapped");
	for (int i = 0; i < OUTPUTS; i++)
		table[i] = (WireTensor) {table[i].address, WIRE_UINT8, 1, {WIRE_LARGE_OUTPUT - 1}, {1}};
	(void) cudal1_guard_find_shared(table, 0, OUTPUTS, true);
	count(memory, 0, &there, &others);
	check(there == 0, "small outputs are not looked at");

	/* with gaps, which views of twice the size fit into */
	memory = lay_out(PAGES, 1);
	own = table[OUTPUTS / 2].address;
	cudal1_guard_keep(kept, 2);
	check(cudal1_guard_find_shared(table, 0, OUTPUTS, false) == OUTPUTS,
		"ordinary outputs are memory of their own");
	check(shared(own, 1, PAGES) == OUTPUTS, "so are turned ones");
	check(shared(own, 2 * row, 2) == OUTPUTS, "and those with gaps");
	check(shared(own, 0, 1) == OUTPUTS / 2 && shared(own, row, 0) == OUTPUTS / 2
			&& shared(own, 1, 1) == OUTPUTS / 2,
		"those that overlap themselves are not");
	check(cudal1_guard_find_shared(table, OUTPUTS / 2 + 1, OUTPUTS, false) == OUTPUTS,
		"the search goes on from where it was told to");
	check(shared(1000, row, 1) == OUTPUTS / 2 && shared(5999, row, 1) == OUTPUTS / 2
			&& shared(1999, row, 1) == OUTPUTS / 2,
		"what lies within inputs or weights is found");
	check(shared(999, row, 1) == OUTPUTS && shared(2000, row, 1) == OUTPUTS
			&& shared(4999, row, 1) == OUTPUTS && shared(6000, row, 1) == OUTPUTS,
		"what lies beside them is not");
	check(is_shared(table[0].address, row, 1), "an output that another one is, is found");
	check(is_shared(table[0].address, 1, row), "turned, too");
	check(is_shared(table[0].address + (uint64_t) row, row, 1), "and where it begins later");
	check(!is_shared(table[0].address + PAGES * PAGE_BYTES, row, 1), "one that follows is not");
	check(pieces(row / 2) == OUTPUTS && pieces(1) == 1 && pieces(row / 2 - 1) == 1,
		"nor are the columns of one array, but where they overlap");
	table[OUTPUTS / 2].shape[0] = 0;
	check(shared(1000, 0, 0) == OUTPUTS, "an output without elements lies nowhere");
	return done();
}
