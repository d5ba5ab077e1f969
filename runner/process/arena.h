/*
 * arena.h
 *		Memory files: what the supervisor shares with executors, or hands them sealed.
 */
#ifndef CUDAL1_ARENA_H
#define CUDAL1_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * memory shared with executors: slots of inputs, and of outputs where the executor writes into
 * shared memory
 */
typedef struct Arena
{
	int			inputs_fd;
	int			outputs_fd;
	char	   *inputs;
	char	   *outputs;
	/* the inputs as the supervisor made them; never seen by a candidate */
	char	   *master;
	int			master_fd;
	uint32_t	slots;
	size_t		input_slot_bytes;
	size_t		output_slot_bytes;
	/* the memory that the descriptors stand for, where it lies on a GPU */
	struct GpuArena *gpu;
	/* there, which of them a candidate's process maps; the reference's maps the one before all */
	int			place;
	void		(*release) (struct GpuArena *gpu);	/* gives that back; NULL: there is none */
} Arena;

extern bool arena_create(Arena *arena, uint32_t slots, size_t input_slot_bytes,
						 size_t output_slot_bytes, bool inputs_writable);
/* no memory yet; arena_destroy does nothing */
extern void arena_init(Arena *arena);
extern void arena_destroy(Arena *arena);

/* a sealed memfd holding these bytes */
extern int	memory_file(const char *name, const void *bytes, size_t length);

/* a file for what a program prints, and its beginning or its end, valid UTF-8 */
extern int	log_file(void);
extern void log_read(int fd, bool end, char *text, size_t size);

/* a memfd of a fixed size, mapped writable here; -1: errno says why. `seals`: more of them */
extern int	shared_memory(const char *name, size_t bytes, int seals, void **address);

#endif							/* CUDAL1_ARENA_H */
