/*
 * build_torch.h
 *		What the parts of PyTorch's builds share: interpreters (build_interpreter.c), and code that
 *		compiles itself (build_jit.c).
 */
#ifndef CUDAL1_BUILD_TORCH_H
#define CUDAL1_BUILD_TORCH_H

#include <limits.h>

#include "process/sandbox.h"
#include "supervisor/backend.h"
#include "supervisor/build/build.h"

#define BUILDS_INSIDE "/compiled"	/* parents find all folders of builds there */
#define BUILD_INSIDE "/build"	/* code finds its own, in builds and executors */

/*
 * A kind of things that code compiles itself: the variable that names its folder, and that folder's
 * place in the side's.
 */
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
	const char *environment[96];
	int			pairs;
} Interpreter;

extern void interpreter_set(Interpreter *i, const char *name, const char *value);

/* USE_FORKS: with every folder of the heat; else with that of a side, which its build writes to */
extern void interpreter_prepare(Measure *m, Side side, InterpreterUse use, Interpreter *i,
								Sandbox *sandbox);

/* Kinds of things that code compiles when it runs, a bit for each (Code.kinds). */
extern unsigned compiled_kinds(const Measure *m, const char *code);

/* starts the interpreters of the first builds, which wait for the device */
extern void build_start_on_device(Measure *m);

/* compiles extensions before the device is held; sides may have a verdict then */
extern void build_ahead(Measure *m);

#endif							/* CUDAL1_BUILD_TORCH_H */
