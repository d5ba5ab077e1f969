/*
 * worker.h
 *		The worker of one database.
 */
#ifndef CUDAL1_WORKER_H
#define CUDAL1_WORKER_H

#include "postgres.h"

extern PGDLLEXPORT void cudal1_worker_main(Datum database);

#endif							/* CUDAL1_WORKER_H */
