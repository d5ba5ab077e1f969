/*
 * launcher.h
 *		The launcher of workers.
 */
#ifndef CUDAL1_LAUNCHER_H
#define CUDAL1_LAUNCHER_H

#include "postgres.h"

/* registers the launcher; called while preloading */
extern void cudal1_launcher_register(void);

extern PGDLLEXPORT void cudal1_launcher_main(Datum arg);

#endif							/* CUDAL1_LAUNCHER_H */
