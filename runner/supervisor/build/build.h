/*
 * build.h
 *		Compiling candidates: with the device, and without it.
 */
#ifndef CUDAL1_BUILD_H
#define CUDAL1_BUILD_H

#include "supervisor/types.h"

#define LIBRARY_LIMIT ((size_t) 256 << 20)	/* bytes of a file that a compiler writes */

/* build.c: c and cuda; false after conclude() */
extern bool build_native(Measure *m);

/* how many builds of code that compiles itself there are at once; each has up to two compilers */
extern int	build_at_once(void);

/* whether nothing more can be written where builds write; `text`: what a build has said */
extern bool build_disk_full(const Measure *m, const char *text);

/*
 * Whether a build that failed may have lacked memory, processes or room, so that its code is
 * measured once more. Code can have a compiler say so, and is judged if it does again. Where the
 * disk is full without what the build wrote in its folder, which goes then, the end is `lost`.
 */
extern bool build_starved(Measure *m, const char *folder, int status, const char *text);

/* makes the reference (0) or one candidate (from 1 on) current; false: it has an outcome */
extern bool build_enter(Measure *m, int which);

/*
 * build_torch.c, build_jit.c: PyTorch's parents of executors, and what code compiles of itself.
 * False after conclude()
 */
extern bool build_zygotes(Measure *m);
/* Builds the code that compiles itself, once the device is held. */
extern bool build_on_device(Measure *m);
extern void build_end(Measure *m);

/* Reads a compiler's words from a file, without the names of our folder. */
extern void build_log(int fd, const char *folder, char *text, size_t size);

/*
 * Whether the sandbox does not start, whatever else seems to have failed; concludes so.
 */
extern bool build_without_sandbox(Measure *m);

/* waits for a build until then, a time of clock_now(); false: it takes longer, or is cancelled */
extern bool build_wait(pid_t pid, double until, int *status);

/* a side needed no build: it was kept */
extern void build_note_kept(Measure *m, Side side);

/*
 * build_cache.c: what was built for a key, into a folder that is not there yet; keeping a folder
 * for a key (both: NULL, nothing)
 */
extern char *build_cache_key(Measure *m, const char *kind, Side side);
extern bool build_cache_find(Measure *m, const char *key, const char *folder);
extern void build_cache_keep(Measure *m, const char *key, const char *folder);
/* a folder beside the entries, which does not count as one; false: can't be made */
extern bool build_cache_folder(const Measure *m, const char *name, char *path, size_t size);

#endif							/* CUDAL1_BUILD_H */
