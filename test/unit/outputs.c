/*
 * outputs.c
 *		What an executor does with its outputs (guard.c): it finds those that are no memory of their
 *		own.
 */
#define _GNU_SOURCE
#include "../../runner/guard.c"
#include "../../runner/random.c"
#include "../../runner/tensor.c"

#include <sys/mman.h>

#include "tap.h"

#define RUNS	40
#define PAGE_BYTES 4096
#define PAGES	6				/* of an output */

static WireTensor table[RUNS];

/*
 * the outputs lie one after the other with `between` pages from each end to the next beginning,
 * backwards if `step` is -1
 */
static void
lay_out(int between, int step)
{
	size_t		apart = (size_t) (PAGES + between) * PAGE_BYTES;
	char *memory = mmap(
		NULL, RUNS * apart, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < RUNS; i++)
		table[i] = (WireTensor){
			(uint64_t) (uintptr_t) memory + (size_t) (step < 0 ? RUNS - 1 - i : i) * apart,
			WIRE_FLOAT32, 2, {PAGES, PAGE_BYTES / 4}, {PAGE_BYTES / 4, 1}};
}

/* what lies at `address` with these strides: the first that must be copied */
static uint64_t
shared(uint64_t address, int64_t stride0, int64_t stride1)
{
	table[RUNS / 2].address = address;
	table[RUNS / 2].stride[0] = stride0;
	table[RUNS / 2].stride[1] = stride1;
	return cudal1_guard_find_shared(table, 0, RUNS);
}

int
main(void)
{
	uint64_t	kept[] = {1000, 2000, 5000, 6000};
	uint64_t	own;
	int			row = PAGE_BYTES / 4;

	lay_out(0, 1);
	own = table[RUNS / 2].address;
	cudal1_guard_keep(kept, 2);
	check(cudal1_guard_find_shared(table, 0, RUNS) == RUNS,
		"ordinary outputs are memory of their own");
	check(shared(own, 1, PAGES) == RUNS, "so are turned ones");
	check(shared(own, 2 * row, 2) == RUNS, "and those with gaps");
	check(shared(own, 0, 1) == RUNS / 2 && shared(own, row, 0) == RUNS / 2
			&& shared(own, 1, 1) == RUNS / 2,
		"those that overlap themselves are not");
	check(cudal1_guard_find_shared(table, RUNS / 2 + 1, RUNS) == RUNS,
		"the search goes on from where it was told to");
	check(shared(1000, row, 1) == RUNS / 2 && shared(5999, row, 1) == RUNS / 2
			&& shared(1999, row, 1) == RUNS / 2,
		"what lies within inputs or weights is found");
	check(shared(999, row, 1) == RUNS && shared(2000, row, 1) == RUNS
			&& shared(4999, row, 1) == RUNS && shared(6000, row, 1) == RUNS,
		"what lies beside them is not");
	table[RUNS / 2].shape[0] = 0;
	check(shared(1000, 0, 0) == RUNS, "an output without elements lies nowhere");
	return done();
}
