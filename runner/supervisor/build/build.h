/*
 * build.h
 *		Compiling candidates, with the device and without it.
 */
#ifndef CUDAL1_BUILD_H
#define CUDAL1_BUILD_H

#include <limits.h>

#include "supervisor/backend.h"

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

static inline Side
build_side(int which)
{
	return which == 0 ? SIDE_REFERENCE : SIDE_CANDIDATE;
}

/* the code of the reference (0) or of a candidate */
static inline Code *
build_code(Measure *m, int which)
{
	return which == 0 ? &m->reference : &m->members[which - 1].code;
}

/* the path of a side's folder in one that all sides have */
extern void build_name(Measure *m, Side side, const char *folder, char *path, size_t size);

/* starts a build; build_close() ends one, if it was started. False after conclude() */
extern bool build_start(Measure *m, Build *build, Sandbox *sandbox);
extern void build_close(Build *build);

/* Waits for a build, and judges one that comes to its end; false: it has a verdict. */
typedef void (*BuildJudge) (Measure *m, Side side, const Build *build, int status);
extern bool build_await(Measure *m, Side side, Build *build, BuildJudge judge);

/* concludes that a side does not compile */
extern bool build_refuse(Measure *m, Side side, const char *cause, const char *format,...)
			__attribute__((format(printf, 4, 5)));

/* build_torch.c: PyTorch's parents of executors; false after conclude() */
extern bool build_zygotes(Measure *m);
/* Builds the code that compiles itself, once the device is held. */
extern bool build_on_device(Measure *m);
extern void build_end(Measure *m);

/* Whether the sandbox does not start, whatever else seems to have failed; concludes so. */
extern bool build_without_sandbox(Measure *m);

/*
 * build_cache.c: what was built of the side's code for a kind of build, into its folder, which is
 * not there yet. True: nothing is left to build. Else it has a key, by which build_cache_keep()
 * keeps what a build that came to its end has left
 */
extern bool build_cache_find(Measure *m, Side side, const char *kind);
extern void build_cache_keep(Measure *m, Built *built);
/* a folder beside the entries, which does not count as one; false: can't be made */
extern bool build_cache_folder(const Measure *m, const char *name, char *path, size_t size);

/* PyTorch: interpreters (build_interpreter.c), and code that compiles itself (build_jit.c) */

#define BUILDS_INSIDE "/compiled"	/* parents find all folders of builds there */
#define BUILD_INSIDE "/build"	/* code finds its own, in builds and executors */

/* What code compiles itself: the variable that names its folder, and its place in the side's. */
typedef enum BuiltKind
{
	BUILT_EXTENSIONS,
	BUILT_TRITON,
	BUILT_GRAPHS,
	BUILT_KERNELS,
	BUILT_KINDS
} BuiltKind;

typedef struct BuiltPlace
{
	const char *variable;
	const char *folder;
} BuiltPlace;

extern const BuiltPlace built_kinds[BUILT_KINDS];

#define INTERPRETER_PLACES	8

/* Environment and folders of an interpreter. */
typedef struct Interpreter
{
	char		script[PATH_MAX];
	char		cores[16];
	char		data[32];
	char		threads[16];
	/* folders outside /usr that it brings along */
	char		found[INTERPRETER_PLACES * PATH_MAX];
	const char *place[INTERPRETER_PLACES];	/* parts of it */
	int			places;
	char		tools[PATH_MAX + 8];	/* a folder for PATH, with a colon behind it, or empty */
	char		path[2 * PATH_MAX + 8];
	char		preload[PATH_MAX];
	char		built[BUILT_KINDS][PATH_MAX + 64];
	char		arch[16];
	const char *argv[10];
} Interpreter;

/* USE_FORKS: with every folder of the heat; else with that of a side, which its build writes to */
extern void interpreter_prepare(Measure *m, Side side, InterpreterUse use, Interpreter *i,
								Sandbox *sandbox);

/* Kinds of things that code compiles when it runs, a bit for each (Code.kinds). */
extern unsigned compiled_kinds(const Measure *m, const char *code);

/*
 * Starts the next interpreters that wait for the device, from a side on (0: the reference). The
 * last side that was entered is current.
 */
extern void build_start_on_device(Measure *m, int from);

/* compiles extensions before the device is held; sides may have a verdict then */
extern void build_ahead(Measure *m);

/*
 * Removes a file, or a folder with all that is in it, however deep it is and whatever its modes
 * are; links are not followed, nor are other file systems entered. What can't be removed stays, and
 * what is beside it goes.
 */
extern void remove_tree(const char *path);
/* remove_tree() as a command of the shell, whose $0 is the path */
#define REMOVE_TREE "exec 2>/dev/null; chmod -R u+rwX \"$0\"; rm -rf --one-file-system \"$0\""

#endif							/* CUDAL1_BUILD_H */
