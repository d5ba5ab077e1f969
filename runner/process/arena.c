/*
 * arena.c
 *		Memory files: what the supervisor shares with executors, or hands them sealed.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/pages.h"
#include "common/text.h"
#include "process/executor.h"

#define ADVICE_COLLAPSE	25		/* in linux/mman.h since 6.1 */

int
memory_file(const char *name, const void *bytes, size_t length)
{
	int			fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && write(fd, bytes, length) != (ssize_t) length)
	{
		close(fd);
		return -1;
	}
	if (fd >= 0)
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
	return fd;
}

int
log_file(void)
{
	int			fd = memfd_create("log", MFD_CLOEXEC);

	if (fd >= 0)
		fcntl(fd, F_SETFL, O_APPEND);
	return fd;
}

void
log_read(int fd, bool end, char *text, size_t size)
{
	char		raw[4096];
	struct stat file;
	off_t		start = 0;
	ssize_t		n;

	if (end && fstat(fd, &file) == 0 && file.st_size > (off_t) size - 1)
		start = file.st_size - (off_t) (size - 1);
	n = pread(fd, raw, sizeof(raw), start);
	text_clean(text, size, raw, n > 0 ? (size_t) n : 0);
}

int
shared_memory(const char *name, size_t bytes, int seals, void **address)
{
	int			fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	bool		good = fd >= 0 && ftruncate(fd, (off_t) bytes) == 0
		&& fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | seals) == 0;

	*address = NULL;
	if (good && bytes > 0)
	{
		*address = pages_map(fd, bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
		good = *address != MAP_FAILED;
	}
	if (fd >= 0 && !good)
		close(fd);
	return good ? fd : -1;
}

/*
 * Puts new shared memory into huge pages, as far as the kernel has some. It leaves out files of
 * which no page exists yet. Without huge pages, or before Linux 6.1, nothing changes.
 */
static void
use_huge_pages(char *address, size_t bytes)
{
	size_t		whole = bytes & ~(HUGE_PAGE - 1);

	for (size_t at = 0; at < whole; at += HUGE_PAGE)
		*(volatile char *) (address + at) = 0;
	if (whole > 0)
		madvise(address, whole, ADVICE_COLLAPSE);
}

bool
arena_create(Arena *arena, uint32_t slots, size_t input_slot_bytes, size_t output_slot_bytes,
			 bool inputs_writable)
{
	arena_init(arena);
	arena->slots = slots;
	arena->input_slot_bytes = input_slot_bytes;
	arena->output_slot_bytes = output_slot_bytes;
	arena->inputs_fd = shared_memory("inputs", slots * input_slot_bytes, 0,
									 (void **) &arena->inputs);
	arena->outputs_fd = shared_memory("outputs", slots * output_slot_bytes, F_SEAL_SEAL,
									  (void **) &arena->outputs);
	arena->master_fd = shared_memory("master", slots * input_slot_bytes, F_SEAL_SEAL,
									 (void **) &arena->master);
	if (arena->inputs_fd < 0 || arena->outputs_fd < 0 || arena->master_fd < 0)
		return false;
	use_huge_pages(arena->inputs, slots * input_slot_bytes);
	use_huge_pages(arena->outputs, slots * output_slot_bytes);
	/*
	 * The supervisor's own mapping stays writable, and no other can become so. A candidate can't
	 * add a seal, which could keep the reference from mapping its inputs.
	 */
	return fcntl(arena->inputs_fd, F_ADD_SEALS,
				 (inputs_writable ? 0 : F_SEAL_FUTURE_WRITE) | F_SEAL_SEAL) == 0;
}

void
arena_init(Arena *arena)
{
	memset(arena, 0, sizeof(*arena));
	arena->place = 1;
	arena->inputs_fd = arena->outputs_fd = arena->master_fd = -1;
}

static void
drop(int *fd, void *address, size_t bytes)
{
	if (address && bytes > 0)
		munmap(address, bytes);
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void
arena_destroy(Arena *arena)
{
	if (arena->release)
		arena->release(arena->gpu);
	drop(&arena->inputs_fd, arena->inputs, arena->slots * arena->input_slot_bytes);
	drop(&arena->outputs_fd, arena->outputs, arena->slots * arena->output_slot_bytes);
	drop(&arena->master_fd, arena->master, arena->slots * arena->input_slot_bytes);
	arena_init(arena);
}
