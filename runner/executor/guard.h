/*
 * guard.h
 *		What executors share: filters and limits, lists of results, gates, calls of an entry.
 */
#ifndef CUDAL1_GUARD_H
#define CUDAL1_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire.h"

/* reads both filters from WIRE_FD_FILTER and closes it; 0 or -1 */
extern int	cudal1_guard_read(void);

/*
 * limits on threads (of all processes of the sandbox together) and descriptors, and the filter that
 * holds while a candidate is loaded; 0 or -1. gpu: whether the CUDA driver is at work
 */
#define GUARD_THREADS	64
extern int	cudal1_guard_enter(bool gpu, uint64_t threads);

/*
 * Limits what the process may add to its memory, before cudal1_guard_enter: `data` as RLIMIT_DATA
 * counts, and `space`, which counts shared mappings of /dev/zero and stacks, too, and is 0 for code
 * that reserves address space by the terabyte, as CUDA's driver does. 0 or -1.
 */
extern int	cudal1_guard_memory(uint64_t data, uint64_t space);

/*
 * Gives the process, in a mount namespace of its own, files at the folder `at`: those in `lower`,
 * if that is not empty, and what it writes itself, at most 64 MiB, which goes with it. The folder
 * that `lower` lies in is hidden, and with the last mount the right to mount goes. Before
 * cudal1_guard_enter; 0 or -1 with errno.
 */
extern int	cudal1_guard_files(const char *lower, const char *at);

/* C on a CPU: the further filter that holds while it runs; 0 or -1 */
extern int	cudal1_guard_seal(void);

/* maps a file of inputs where huge pages of it can be used, see common/pages.h; NULL: errno */
extern void *cudal1_guard_map(int fd, uint64_t bytes);

/*
 * For the generator of PyTorch's inputs: an array from a cipher, by a key of its own from the
 * kernel. dtype: WireDtype; init: RandomInit.
 */
extern void cudal1_guard_fill(void *out, uint64_t n, uint32_t dtype, uint32_t init, double low,
							  double high);

/*
 * For a run's outputs, `n` in `table` (WireTensor). keep: what outlives a run, as n pairs of
 * addresses, first and end; it stays the caller's. find_shared: the first from `first` on that lies
 * within that, whose elements share places, or that shares places with an earlier one; n if none
 * does. `make`: then pages that no run has written, and that the kernel would make when they are
 * read, are made, because an output is memory, not a promise of it.
 */
extern void cudal1_guard_keep(const uint64_t *bounds, uint64_t n);
extern uint64_t cudal1_guard_find_shared(const void *table, uint64_t first, uint64_t n, bool make);

/*
 * For runs whose only result differs from the first one's by its place alone. place: the
 * executor's WireControl, and where results may lie, `length` bytes at `from`; from is 0 on a CPU.
 * list: lists where the result of run number `run` lies, and makes its pages; does nothing and
 * returns 0 where it lies elsewhere.
 */
extern void cudal1_guard_place(void *control, uint64_t from, uint64_t length);
extern int	cudal1_guard_list(uint32_t run, uint64_t address);

/* gate.c: the gate of a window */

/*
 * cudal1_gate_begin: says that the process has come to its first gate. cudal1_gate_wait: says that
 * it has passed `gate`, made that run and come to the next one, and returns the gate that was
 * opened then, above `gate`: 1 for run number 0, and 0 when the window has ended. `control`: the
 * executor's WireControl.
 */
extern void cudal1_gate_begin(void *control);
extern uint32_t cudal1_gate_wait(uint32_t gate);

/*
 * Lists memory that the process reads while it waits at gates, up to 64 MiB in all; again from the
 * same place, where it has another end.
 */
extern void cudal1_gate_walk(const void *from, const void *to);

/* entry.c: calling the entry of compiled code, one slot a run; what exec-c and exec-cuda share */

/* ends the program with a message for operators */
extern void entry_fail(const char *text) __attribute__((noreturn));

/* maps a descriptor's file, shared; NULL if it is empty */
extern void *entry_map(int fd, int protection);

/*
 * checks the arguments of a program and takes what every executor of compiled code is handed:
 * control memory, the call, the filters
 */
extern void entry_begin(int argc, char **argv, WireControl **control, WireCall **call);

/* loads the library and finds the entry: its handle, or NULL and why in `text` */
extern void *entry_load(const WireCall *call, const char *path, char *text, size_t size);

/* gives the data of the code's library to cudal1_gate_walk() */
extern void entry_walk(void *handle);

/*
 * Calls the entry once, with pointers into the inputs and outputs of the first slot that control
 * memory lists. With WIRE_FLAG_GATED it does so for each gate that opens, with the slot of that
 * run, and says when the run is done. end_run: called after each run, before it says so; or NULL.
 */
extern void entry_run(const WireCall *call, WireControl *control, uint32_t flags, char *inputs,
					  char *outputs, void (*end_run) (void));

/*
 * says hello, then loads the code of `path` and makes runs as commands ask for it, until the
 * supervisor closes the socket; what is returned is the answer's status
 */
extern void entry_serve(const char *path, uint32_t (*load) (const char *path, uint32_t flags),
						uint32_t (*run) (uint32_t flags))
	__attribute__((noreturn));

#endif							/* CUDAL1_GUARD_H */
