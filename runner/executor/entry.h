/*
 * entry.h
 *		Calling the entry of compiled code, one slot a run; what exec-c and exec-cuda share.
 */
#ifndef CUDAL1_ENTRY_H
#define CUDAL1_ENTRY_H

#include <stddef.h>
#include <stdint.h>

#include "common/wire.h"

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
 * Calls the entry `count` times, once for each slot that control memory lists, with pointers into
 * that slot's inputs and outputs. With WIRE_FLAG_GATED each run waits for its gate and says when it
 * is done. end_run: called after each run, before it says so; or NULL.
 */
extern void entry_run(const WireCall *call, WireControl *control, uint32_t count, uint32_t flags,
					  char *inputs, char *outputs, void (*end_run) (void));

/*
 * says hello, then loads the code of `path` and makes runs as commands ask for it, until the
 * supervisor closes the socket; what is returned is the answer's status
 */
extern void entry_serve(const char *path, uint32_t (*load) (const char *path, uint32_t flags),
						uint32_t (*run) (uint32_t count, uint32_t flags))
	__attribute__((noreturn));

#endif							/* CUDAL1_ENTRY_H */
