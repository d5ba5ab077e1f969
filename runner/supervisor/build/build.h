/*
 * build.h
 *		What build.c and build_torch.c share.
 */
#ifndef CUDAL1_BUILD_H
#define CUDAL1_BUILD_H

#include "supervisor/measure.h"

#define LIBRARY_LIMIT ((size_t) 256 << 20)	/* bytes of a file that a compiler writes */

/* what a compiler wrote to a file, without the names of a folder of ours */
extern void build_log(int fd, const char *folder, char *text, size_t size);

/* whether it is the sandbox that does not start, whoever else seems to have failed; concludes so */
extern bool build_without_sandbox(Measure *m);

/* a side needed no build: it was kept */
extern void build_note_kept(Measure *m, Side side);

#endif							/* CUDAL1_BUILD_H */
