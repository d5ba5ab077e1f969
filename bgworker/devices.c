/*
 * devices.c
 *		The search for devices, and claims of jobs for them.
 *
 * `cudal1-measure --devices` knows what a host can measure on.  It prints one line a device, and
 * the worker passes the line to the database as it is.  The search loads compilers and PyTorch,
 * which would disturb a measurement.  So it runs only when the worker begins, when the
 * configuration was reloaded, or when nothing was found.  In between, the worker registers the same
 * lines again every minute, to show that the devices are still served.
 *
 * The worker claims breadth first: no device gets a second job to build ahead while another has
 * none.
 */
#include "postgres.h"

#include <signal.h>
#include <unistd.h>

#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "settings.h"
#include "shared.h"
#include "worker.h"

#define MAX_DEVICES 64
#define MAX_DEVICE_LINE (64 * 1024)
/* a device is registered again after this time */
#define REFRESH_MS 60000
#define SEARCH_SECONDS 120

typedef struct Device
{
	int64		device_id;
	char	   *line;
	bool		empty;			/* the last claim found nothing */
	int			failures;
	int64		retry_at;
} Device;

static MemoryContext context = NULL;	/* of all lines of devices */
static Device devices[MAX_DEVICES];
int			cudal1_devices_count = 0;

static Cudal1Child search;
static bool searching = false;
static bool search_wanted = false;
static int64 search_at = 0;
static int64 search_until = 0;
static int	search_failures = 0;
static char *lines[MAX_DEVICES];
static int	nlines = 0;
static int64 refresh_at = 0;
char		cudal1_devices_problem[CUDAL1_NOTE_SIZE];
char		cudal1_devices_failure[CUDAL1_NOTE_SIZE];

static void
note_claim(bool good)
{
	static char since[64];

	if (!good && cudal1_devices_failure[0] == '\0')
		strlcpy(since, timestamptz_to_str(GetCurrentTimestamp()), sizeof(since));
	if (good)
		cudal1_devices_failure[0] = '\0';
	else
		snprintf(cudal1_devices_failure, CUDAL1_NOTE_SIZE, "claims fail since %s: %s", since,
				 cudal1_problem);
}

void
cudal1_devices_look(void)
{
	search_wanted = true;
	search_at = 0;
	search_failures = 0;
}

void
cudal1_devices_stop(void)
{
	if (!searching)
		return;
	cudal1_child_end(&search);
	searching = false;
}

static void
forget_devices(void)
{
	cudal1_devices_count = 0;
	nlines = 0;
	if (context != NULL)
		MemoryContextReset(context);
	else
		context = AllocSetContextCreate(TopMemoryContext, "cudal1 devices", ALLOCSET_DEFAULT_SIZES);
}

void
cudal1_devices_drop(void)
{
	cudal1_devices_stop();
	forget_devices();
	search_wanted = false;
	cudal1_devices_problem[0] = cudal1_devices_failure[0] = '\0';
}

/* the command line of cudal1-measure by the settings, with one more option or NULL */
static void
make_command(char **argv, const char *option)
{
	cudal1_jobs_command(argv, cudal1_settings_program(cudal1_measure_path, "cudal1-measure"),
						option, cudal1_allow_unsandboxed, cudal1_settings_scratch(),
						cudal1_python);
}

/* ---- search ---- */

static void
take_line(void *owner, char *line, size_t length)
{
	if (nlines < MAX_DEVICES && length <= MAX_DEVICE_LINE && strlen(line) == length)
		lines[nlines++] = MemoryContextStrdup(context, line);
}

static void
search_failed(const char *text)
{
	cudal1_note_problem(cudal1_devices_problem, text);
	search_wanted = true;
	search_failures++;
	search_at = cudal1_clock_ms() + 2 * cudal1_backoff_ms(search_failures);
}

static void
begin_search(void)
{
	char	   *argv[CUDAL1_COMMAND_WORDS];
	Cudal1Program program = {.label = "cudal1-measure --devices",.argv = argv,
	.scratch = cudal1_settings_scratch(),.on_line = take_line};

	make_command(argv, "--devices");
	search_wanted = false;
	forget_devices();
	searching = true;
	if (cudal1_child_start(&search, &program))
	{
		search_until = cudal1_clock_ms() + ((int64) SEARCH_SECONDS + cudal1_child_grace) * 1000;
		return;
	}
	searching = false;
	search_failed(cudal1_problem);
}

static Cudal1Call
register_device(const char *line)
{
	char		host[256];
	char	   *key;
	bool		allowed;
	int64		device_id;
	Cudal1Call	outcome;

	if (gethostname(host, sizeof(host)) != 0)
		strlcpy(host, "localhost", sizeof(host));
	host[sizeof(host) - 1] = '\0';
	outcome = cudal1_queue_register(host, line, &device_id);
	if (outcome == CUDAL1_CALL_DONE)
		outcome = cudal1_queue_run("SELECT $1::jsonb ->> 'key'", 1, &line, &key, 1);
	if (outcome != CUDAL1_CALL_DONE)
		return outcome;
	allowed = cudal1_settings_allow_device(key);
	free(key);
	if (!allowed)
		return CUDAL1_CALL_DONE;
	for (int i = 0; i < cudal1_devices_count; i++)
		if (devices[i].device_id == device_id)
			return CUDAL1_CALL_DONE;
	if (cudal1_devices_count < MAX_DEVICES)
	{
		Device	   *device = &devices[cudal1_devices_count++];

		memset(device, 0, sizeof(*device));
		device->device_id = device_id;
		device->line = MemoryContextStrdup(context, line);
	}
	return CUDAL1_CALL_DONE;
}

static Cudal1Call
end_search(void)
{
	const char *ending = cudal1_child_ending(&search);
	bool		failed = false;

	cudal1_child_end(&search);
	searching = false;
	for (int i = 0; i < nlines; i++)
	{
		Cudal1Call	outcome = register_device(lines[i]);

		if (outcome == CUDAL1_CALL_GONE)
			return outcome;
		failed |= outcome != CUDAL1_CALL_DONE;
	}
	if (nlines == 0)
		search_failed(psprintf("cudal1-measure --devices found none and %s", ending));
	else if (cudal1_devices_count == 0 && failed)
		search_failed("no device could be registered");
	else if (cudal1_devices_count == 0)
		search_failed(psprintf("no device of cudal1.devices (%s) was found",
							   cudal1_devices));
	else
	{
		cudal1_devices_problem[0] = '\0';
		search_failures = 0;
		if (failed)
			search_failed("some devices could not be registered");
	}
	refresh_at = cudal1_clock_ms() + REFRESH_MS;
	return CUDAL1_CALL_DONE;
}

static Cudal1Call
refresh(void)
{
	refresh_at = cudal1_clock_ms() + REFRESH_MS;
	for (int i = 0; i < cudal1_devices_count; i++)
		if (register_device(devices[i].line) == CUDAL1_CALL_GONE)
			return CUDAL1_CALL_GONE;
	return CUDAL1_CALL_DONE;
}

Cudal1Call
cudal1_devices_poll(bool *ended)
{
	int64		now = cudal1_clock_ms();

	*ended = false;
	if (searching)
	{
		cudal1_child_poll(&search);
		*ended = search.gone;
		if (search.gone)
			return end_search();
		if (now > search_until || search.overlong)
			cudal1_child_signal(&search, SIGKILL);
		return CUDAL1_CALL_DONE;
	}

	/* a search would disturb a measurement, so it waits until none runs, and no job is claimed */
	if (search_wanted && now >= search_at && cudal1_jobs_count() == 0)
		begin_search();
	else if (cudal1_devices_count > 0 && now >= refresh_at)
		return refresh();
	return CUDAL1_CALL_DONE;
}

/* ---- claims ---- */

static Cudal1Call
claim_for(Device *device, const char *worker)
{
	Cudal1Heat	claimed;
	Cudal1Call	outcome = cudal1_queue_claim(device->device_id, worker, &claimed);
	char	   *argv[CUDAL1_COMMAND_WORDS];
	bool		good = outcome == CUDAL1_CALL_DONE;

	if (outcome == CUDAL1_CALL_GONE)
		return CUDAL1_CALL_GONE;
	note_claim(good);
	device->empty = good && claimed.n == 0;
	if (good && !device->empty)
	{
		make_command(argv, NULL);
		good = cudal1_jobs_begin(device, &claimed, argv, cudal1_settings_scratch(),
								 cudal1_child_grace);
		if (!good)
			cudal1_note_problem(cudal1_devices_problem, cudal1_problem);
	}
	free(claimed.job);
	device->failures = good ? 0 : device->failures + 1;
	if (!good)
		device->retry_at = cudal1_clock_ms() + cudal1_backoff_ms(device->failures);
	return CUDAL1_CALL_DONE;
}

Cudal1Call
cudal1_devices_claim(const char *worker, bool look)
{
	if (searching || (search_wanted && cudal1_clock_ms() >= search_at))
		return CUDAL1_CALL_DONE;
	for (int i = 0; i < cudal1_devices_count && look; i++)
		devices[i].empty = false;
	for (int depth = 0; depth <= cudal1_prefetch; depth++)
	{
		for (int i = 0; i < cudal1_devices_count; i++)
		{
			Device	   *device = &devices[i];

			if (device->empty || cudal1_clock_ms() < device->retry_at ||
				cudal1_jobs_on_device(device) > depth)
				continue;
			if (claim_for(device, worker) == CUDAL1_CALL_GONE)
				return CUDAL1_CALL_GONE;
		}
	}
	return CUDAL1_CALL_DONE;
}
