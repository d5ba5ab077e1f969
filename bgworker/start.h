/*
 * start.h
 *		What starts with the server: hooks, the launcher, and by it the worker of each database.
 */
#ifndef CUDAL1_START_H
#define CUDAL1_START_H

#include "postgres.h"

/* called in every process: what sessions read of an error */
extern void cudal1_errors_install(void);

/* called while preloading: what wakes workers, what starts them */
extern void cudal1_hooks_install(void);
extern void cudal1_launcher_register(void);

extern PGDLLEXPORT void cudal1_launcher_main(Datum arg);
extern PGDLLEXPORT void cudal1_worker_main(Datum database);

#endif							/* CUDAL1_START_H */
