/*
 * jobs.c
 *		What supervise/ needs of a worker: the log, and the queue by SPI.
 *
 * None of the functions in these tables raises an error: entry.c turns errors into results, and the
 * others do not fail.
 */
#include "postgres.h"

#include "entry.h"
#include "jobs.h"
#include "settings.h"

static void
write_log(const char *text)
{
	ereport(LOG,
			(errmsg("%s", text)));
}

static bool
connected(void)
{
	return true;
}

void
cudal1_worker_jobs_prepare(void)
{
	static const Cudal1Host host = {write_log};
	static const Cudal1Queue queue = {.run = cudal1_entry_run,.problem = cudal1_entry_problem,
		.connected = connected,.lease_seconds = &cudal1_lease_seconds,
	.read = cudal1_message_read};

	if (!cudal1_jobs_prepare(&host, &queue))
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create an epoll descriptor: %m")));
}

void
cudal1_worker_jobs_command(char **argv, const char *option)
{
	cudal1_jobs_command(argv, cudal1_settings_program(), option, cudal1_allow_unsandboxed,
						cudal1_settings_scratch(), cudal1_python);
}
