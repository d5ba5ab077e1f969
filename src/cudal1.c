/*
 * The library's entry: everything that must happen when the server loads it.
 */
#include "postgres.h"

#include "fmgr.h"

#include "../bgworker/bgworker.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	cudal1_bgworker_init();
}
