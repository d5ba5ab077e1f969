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
 * limits on threads (of a sandbox together) and descriptors, and the filter that holds while a
 * candidate is loaded; 0 or -1. gpu: whether the CUDA driver is at work
 */
#define GUARD_THREADS	64
extern int	cudal1_guard_enter(bool gpu, uint64_t threads);

/*
 * Limits what the process may add to its memory, before cudal1_guard_enter; 0 or -1. `data` is as
 * RLIMIT_DATA counts. `space` counts shared mappings of /dev/zero and stacks, too; it is 0, for no
 * limit, where CUDA's driver reserves address space by the terabyte.
 */
extern int	cudal1_guard_memory(uint64_t data, uint64_t space);

/*
 * Gives the process files at the folder `at`, in a mount namespace of its own: those in `lower`,
 * unless that is empty, and at most 64 MiB that it writes itself. The folder of `lower` is hidden,
 * and the right to mount goes. Before cudal1_guard_enter; 0 or -1 with errno.
 */
extern int	cudal1_guard_files(const char *lower, const char *at);

/* C on a CPU: the further filter that holds while it runs; 0 or -1 */
extern int	cudal1_guard_seal(void);

/* maps a file of inputs where huge pages of it can be used, see common/pages.h; NULL: errno */
extern void *cudal1_guard_map(int fd, uint64_t bytes);

/* fills an array by random_fill(), with a key of its own from the kernel */
extern void cudal1_guard_fill(void *out, uint64_t n, uint32_t dtype, uint32_t init, double low,
							  double high);

/*
 * keep: notes what outlives a run, as n pairs of addresses, first and end; they stay the caller's.
 * find_shared: of a run's `n` outputs in `table` (WireTensor) the first from `first` on that lies
 * there, or shares places with itself or an earlier one; n if none does. `make`: then the kernel
 * makes pages that no run has written, because an output is memory, not a promise of it.
 */
extern void cudal1_guard_keep(const uint64_t *bounds, uint64_t n);
extern uint64_t cudal1_guard_find_shared(const void *table, uint64_t first, uint64_t n, bool make);

/*
 * For runs whose only result differs from the first one's by its place alone. place: the
 * executor's WireControl, and the memory for results; `from` is 0 on a CPU. list: lists where the
 * result of run number `run` lies, and makes its pages; 0 and nothing if it lies elsewhere.
 */
extern void cudal1_guard_place(void *control, uint64_t from, uint64_t length);
extern int	cudal1_guard_list(uint32_t run, uint64_t address);

/*
 * gate.c: the gate of a window. begin: says that the process has come to its first one. wait: says
 * that it has made the run of `gate` and come to the next one, and returns the gate, above `gate`,
 * that was opened then: 1 for run number 0, and 0 when the window has ended. `control`: the
 * executor's WireControl.
 */
extern void cudal1_gate_begin(void *control);
extern uint32_t cudal1_gate_wait(uint32_t gate);

/* lists memory to read while at gates, up to 64 MiB in all; again where its end has moved */
extern void cudal1_gate_walk(const void *from, const void *to);

/* entry.c: what exec-c and exec-cuda share; slots of inputs and outputs begin there */
extern WireControl *entry_control;
extern WireCall *entry_call;
extern char *entry_inputs;
extern char *entry_outputs;

/*
 * the program: takes what it is started with, and answers commands by what `load` and `run` return,
 * until the supervisor closes the socket
 */
extern void entry_main(int argc, char **argv,
					   uint32_t (*load) (const char *path, uint32_t flags),
					   uint32_t (*run) (uint32_t flags, uint32_t slot)) __attribute__((noreturn));

/* ends the program with a message for operators */
extern void entry_fail(const char *text) __attribute__((noreturn));

/* maps a descriptor's file, shared; NULL if it is empty */
extern void *entry_map(int fd, int protection);

/* loads the library and finds the entry: its handle, or NULL and why in control memory */
extern void *entry_load(const char *path);

/* gives the data of the code's library to cudal1_gate_walk() */
extern void entry_walk(void *handle);

/*
 * Calls the entry once, with pointers into the inputs and outputs of a slot. With WIRE_FLAG_GATED
 * it does so for each gate that opens, with the slot of that run, and says when the run is done.
 * end_run: called after each run, before it says so; or NULL.
 */
extern void entry_run(uint32_t flags, uint32_t slot, void (*end_run) (void));

#endif							/* CUDAL1_GUARD_H */
