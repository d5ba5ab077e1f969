/*
 * walk.c
 *		Which memory an executor reads while it waits at its gate.
 *
 * The memory is what the process has written itself: pages that no other process shares. A forked
 * executor shares most of its parent's pages, which no code of a candidate needs in a hurry. The
 * constants of compiled code are added, because they lie in pages of a file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/proc.h"
#include "process/executor.h"

/* bits of an entry of /proc/PID/pagemap, see proc(5) */
#define PAGE_PRESENT	(UINT64_C(1) << 63)
#define PAGE_OF_FILE	(UINT64_C(1) << 61)
#define PAGE_EXCLUSIVE	(UINT64_C(1) << 56)
#define PAGES_AT_ONCE	4096
#define MOST_STRETCHES	65536
#define WRITTEN_MOST	8		/* addresses that are asked for at once */

typedef struct Walk
{
	WireStretch *v;
	size_t		n;
	uint64_t	page;			/* bytes */
} Walk;

static void
add(Walk *walk, uint64_t from, uint64_t to)
{
	if (walk->n > 0 && walk->v[walk->n - 1].to == from)
		walk->v[walk->n - 1].to = to;
	else if (walk->n < MOST_STRETCHES)
		walk->v[walk->n++] = (WireStretch) {from, to};
}

/* The pages of a mapping that the process has written. */
static void
add_written(Walk *walk, int pagemap, uint64_t from, uint64_t to)
{
	static uint64_t entry[PAGES_AT_ONCE];

	while (from < to)
	{
		size_t		pages = (size_t) ((to - from) / walk->page);
		ssize_t		got;

		pages = pages < PAGES_AT_ONCE ? pages : PAGES_AT_ONCE;
		got = pread(pagemap, entry, pages * sizeof(*entry),
					(off_t) (from / walk->page * sizeof(*entry)));
		if (got <= 0)
			return;
		for (size_t i = 0; i < (size_t) got / sizeof(*entry); i++, from += walk->page)
			if ((entry[i] & (PAGE_PRESENT | PAGE_EXCLUSIVE | PAGE_OF_FILE))
				== (PAGE_PRESENT | PAGE_EXCLUSIVE))
				add(walk, from, from + walk->page);
	}
}

static int
open_pagemap(const Executor *executor)
{
	char		path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int) executor->pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int
executor_count_written(const Executor *executor, const uint64_t *address, int n)
{
	const void *page[WRITTEN_MOST];
	int			status[WRITTEN_MOST];
	int			i = 0;

	n = n < WRITTEN_MOST ? n : WRITTEN_MOST;
	for (; i < n; i++)
		page[i] = (const void *) (uintptr_t) address[i];
	/* Pages count as written where the kernel does not tell. */
	if (syscall(SYS_move_pages, executor->pid, (unsigned long) n, page, NULL, status, 0) != 0)
		return n;
	for (i = 0; i < n; i++)
		if (status[i] == -ENOENT || status[i] == -EFAULT)
			break;
	return i;
}

static int
larger_first(const void *a, const void *b)
{
	const WireStretch *x = a;
	const WireStretch *y = b;

	return x->to - x->from < y->to - y->from ? 1 : x->to - x->from > y->to - y->from ? -1 : 0;
}

void
executor_list_walk(Executor *executor)
{
	Walk		walk = {.v = malloc(MOST_STRETCHES * sizeof(WireStretch)),
		.page = (uint64_t) sysconf(_SC_PAGESIZE)};
	FILE	   *maps = proc_open(executor->pid, "maps");
	char		line[512];
	uint64_t	bytes = 0;
	uint32_t	n = 0;
	int			pagemap = open_pagemap(executor);

	while (walk.v && maps && pagemap >= 0 && fgets(line, sizeof(line), maps))
	{
		unsigned long long from;
		unsigned long long to;
		char		rights[8];

		if (sscanf(line, "%llx-%llx %7s", &from, &to, rights) != 3 || rights[0] != 'r'
			|| rights[3] != 'p')
			continue;
		if (strstr(line, " /code/"))
			add(&walk, from, to);
		else if (rights[1] == 'w' && !strstr(line, "[stack]"))
			add_written(&walk, pagemap, from, to);
	}
	if (walk.n > 0)
		qsort(walk.v, walk.n, sizeof(*walk.v), larger_first);
	for (size_t i = 0; i < walk.n && n < WIRE_MAX_WALKS && bytes < WALK_BYTES; i++)
	{
		WireStretch stretch = walk.v[i];

		if (stretch.to - stretch.from > WALK_BYTES - bytes)
			stretch.to = stretch.from + (WALK_BYTES - bytes);
		bytes += stretch.to - stretch.from;
		executor->control->walk[n++] = stretch;
	}
	executor->control->walks = n;
	if (maps)
		fclose(maps);
	if (pagemap >= 0)
		close(pagemap);
	free(walk.v);
}
