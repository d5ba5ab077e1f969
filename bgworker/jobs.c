/*
 * jobs.c
 *		What supervise/ needs of a worker: the log, the count of open files, the queue by SPI.
 *
 * None of these functions raises an error: entry.c turns errors into results, and the others do not
 * fail.
 */
#include "postgres.h"

#include "storage/fd.h"

#include "entry.h"
#include "jobs.h"
#include "message.h"
#include "settings.h"

static void
write_log(const char *text)
{
	ereport(LOG,
			(errmsg("%s", text)));
}

static bool
take_descriptors(int n)
{
	for (int i = 0; i < n; i++)
	{
		if (!AcquireExternalFD())
		{
			while (i-- > 0)
				ReleaseExternalFD();
			return false;
		}
	}
	return true;
}

static void
give_descriptors(int n)
{
	while (n-- > 0)
		ReleaseExternalFD();
}

static bool
connected(void)
{
	return true;
}

static int64_t
quiet_beat(void)
{
	return (int64_t) cudal1_lease_seconds * 1000 / 3;
}

static Cudal1Call
heartbeat(void *device, const Cudal1Claim *claim, const char *progress, Cudal1Verdict *verdict)
{
	return cudal1_entry_heartbeat(claim, progress, verdict);
}

static Cudal1Call
finish(void *device, Cudal1Report *reports, int n, const char **problem)
{
	char	   *reason = NULL;
	Cudal1Call	outcome = cudal1_entry_finish(reports, n, &reason);

	*problem = reason;
	return outcome;
}

static Cudal1Call
release(void *device, const Cudal1Claim *claim)
{
	return cudal1_entry_release(claim);
}

void
cudal1_worker_jobs_prepare(void)
{
	static const Cudal1Host host = {write_log, take_descriptors, give_descriptors};
	static const Cudal1Queue queue = {.connected = connected,.quiet_beat = quiet_beat,
		.read = cudal1_message_read,.heartbeat = heartbeat,.finish = finish,
	.release = release};

	cudal1_jobs_queue(&host, &queue);
}

void
cudal1_worker_jobs_command(char **argv, const char *option)
{
	cudal1_jobs_command(argv, cudal1_settings_program(), option, cudal1_allow_unsandboxed,
						cudal1_settings_scratch(), cudal1_python);
}
