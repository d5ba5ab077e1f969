/*
 * start.h
 *		What starts with the server: the launcher, and by it the worker of each database.
 */
#ifndef CUDAL1_START_H
#define CUDAL1_START_H

#include "postgres.h"

/* called while preloading */
extern void cudal1_launcher_register(void);

extern PGDLLEXPORT void cudal1_launcher_main(Datum arg);
extern PGDLLEXPORT void cudal1_worker_main(Datum database);

#endif							/* CUDAL1_START_H */
