/*
 * places.c
 *		Moves loaded code to other memory, so that no place of it lasts.
 *
 * Which memory the kernel has found for a page of code changes how fast the code is, by up to a
 * quarter where it is a loop over arrays that are larger than the caches. The pages of a file stay
 * where they are for all processes that load it, so that a copy of a reference would be slower than
 * the reference in each of them. So there are copies of the code, of which blocks of runs draw one,
 * or blocks without runs before them.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "executor/places.h"

#define PLACES		32			/* copies, the first of which is kept to compare with */
#define MOST_BYTES	((size_t) 64 << 10)	/* of code; the luck of more pages is small */
#define PAGE		((size_t) 4096)

static char *copies;
static char *code;				/* NULL: it stays where it is */
static size_t bytes;
static uint32_t random_state;

void
places_reserve(void)
{
	/* shared, because only a shared mapping can be mapped once more */
	copies = mmap(NULL, PLACES * MOST_BYTES, PROT_READ | PROT_WRITE,
				/* cppcheck-suppress invalidFunctionArg ; there is no file */
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (copies == MAP_FAILED)
		copies = NULL;
}

/* of the object that holds the address: its executable segment */
static int
find_code(struct dl_phdr_info *object, size_t size, void *address)
{
	for (int i = 0; i < object->dlpi_phnum; i++)
	{
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uintptr_t	start = object->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)
			|| (uintptr_t) address < start || (uintptr_t) address >= start + segment->p_memsz)
			continue;
		bytes = (segment->p_memsz + start % PAGE + PAGE - 1) & ~(PAGE - 1);
		if (!(segment->p_flags & PF_W) && bytes <= MOST_BYTES)
			code = (char *) (start - start % PAGE);
		return 1;
	}
	return 0;
}

void
places_fill(void *entry)
{
	if (!copies || getrandom(&random_state, sizeof(random_state), 0) != sizeof(random_state))
		return;
	random_state |= 1;
	dl_iterate_phdr(find_code, entry);
	if (!code)
		return;
	for (size_t i = 0; i < PLACES; i++)
		memcpy(copies + i * bytes, code, bytes);
	if (mprotect(copies, PLACES * bytes, PROT_READ | PROT_EXEC) != 0)
		code = NULL;
}

void
places_draw(void)
{
	char	   *copy;

	if (!code)
		return;
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	copy = copies + (1 + random_state % (PLACES - 1)) * bytes;
	/* code that has changed itself stays as it is; the kernel maps in one step */
	if (memcmp(code, copies, bytes) != 0
		|| mremap(copy, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, code) == MAP_FAILED)
		code = NULL;
	for (size_t at = 0; code && at < bytes; at += PAGE)
		*(volatile char *) (code + at);
}
