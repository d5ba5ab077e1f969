/*
 * bgworker.c
 *		The library's entry: settings in every process, all else only where the server preloads it.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "settings.h"
#include "shared.h"
#include "start.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	cudal1_settings_define();
	if (!process_shared_preload_libraries_in_progress)
		return;
	cudal1_shared_init();

	/* during pg_upgrade nothing may be measured, and no worker may write */
	if (IsBinaryUpgrade)
		return;
	cudal1_launcher_register();
}
