/*
 * device.c
 *		Which GPU is measured on, and what is noted of it: others' processes, throttling, its clock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

static void *find_stand_in(void *library, const char *name);

#define CUDAL1_VERSION "0"
#define dlsym find_stand_in
#include "../../runner/supervisor/gpu/cuda_device.c"
#include "../../runner/common/text.c"
#include "../../runner/supervisor/outcome.c"

#include "tap.h"

#define OURS	2				/* processes: the supervisor and the generator of inputs */

static Job	job;
static Gpu	gpu;
static Member member;
static Measure measure = {.job = &job, .gpu = &gpu, .result = &member.result,
	.live.generating = true};
static unsigned int mhz;
static unsigned long long throttling;
static unsigned int strangers;	/* processes of others */

/* what cuda_device.c does elsewhere is not tried here */
int
cores_device(const cpu_set_t *allowed, int number, int gpus)
{
	return 1;
}

int
cores_keep_off(const cpu_set_t *allowed, const cpu_set_t *own, int gpus)
{
	return 2;
}

bool
cuda_driver_load(CuDriver *driver, const char **problem)
{
	return true;
}

static int
start(void)
{
	return 0;
}

static int
count(unsigned int *n)
{
	*n = 1;
	return 0;
}

static int
find_device(unsigned int index, NvmlRef *device)
{
	return 0;
}

static int
say_uuid(NvmlRef device, char *uuid, unsigned int length)
{
	snprintf(uuid, length, "GPU-0");
	return 0;
}

static int
say_clock(NvmlRef device, int type, unsigned int *value)
{
	*value = mhz;
	return 0;
}

static int
say_throttling(NvmlRef device, unsigned long long *reasons)
{
	*reasons = throttling;
	return 0;
}

static int
list_processes(NvmlRef device, unsigned int *n, void *processes)
{
	*n = OURS + strangers;
	return 7;					/* NVML_ERROR_INSUFFICIENT_SIZE */
}

static unsigned int multi_instance;

static int
say_mode(NvmlRef device, unsigned int *current, unsigned int *pending)
{
	*current = *pending = multi_instance;
	return 0;
}

void *
cuda_driver_library(const char *name)
{
	return &gpu;
}

static void *
find_stand_in(void *library, const char *name)
{
	static const struct
	{
		const char *name;
		void	   *function;
	}			all[] = {
		{"nvmlInit_v2", (void *) start}, {"nvmlDeviceGetCount_v2", (void *) count},
		{"nvmlDeviceGetHandleByIndex_v2", (void *) find_device},
		{"nvmlDeviceGetMigMode", (void *) say_mode},
		{"nvmlDeviceGetUUID", (void *) say_uuid}, {"nvmlDeviceGetClockInfo", (void *) say_clock},
		{"nvmlDeviceGetCurrentClocksThrottleReasons", (void *) say_throttling},
		{"nvmlDeviceGetComputeRunningProcesses_v3", (void *) list_processes}
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(all[i].name, name) == 0)
			return all[i].function;
	return NULL;
}

/* what is noted of it, and its clock at two moments */
static void
note(unsigned int first, unsigned int last)
{
	json_decref(measure.environment);
	measure.environment = json_object();
	gpu = (Gpu) {.seen = {.sm_mhz = {INT_MAX, 0},.temperature = {INT_MAX, 0}}};
	mhz = first;
	gpu_note_state(&measure);
	mhz = last;
	gpu_note_state(&measure);
}

static json_int_t
foreign(void)
{
	return json_integer_value(json_object_get(measure.environment, "foreign_processes"));
}

static bool
clocks(json_int_t least, json_int_t most)
{
	const json_t *range = json_object_get(measure.environment, "sm_mhz");

	return json_integer_value(json_array_get(range, 0)) == least
		&& json_integer_value(json_array_get(range, 1)) == most;
}

static bool
throttled(const char *by)
{
	return strcmp(json_string_value(json_object_get(measure.environment, "throttle")), by) == 0;
}

int
main(void)
{
	note(1980, 1755);
	check(clocks(1755, 1980), "the least and the most of its clock are noted");
	check(!json_object_get(measure.environment, "foreign_processes"),
		  "the supervisor's processes are no others");
	check(throttled(""), "what does not throttle is not named");
	throttling = 0x40;
	note(1980, 1980);
	check(!throttled("") && clocks(1980, 1980), "heat that throttles it is");
	throttling = 0;
	gpu_note_state(&measure);
	check(!throttled(""), "also when it has passed");

	strangers = 1;
	note(1980, 1980);
	check(foreign() == 1, "a process of another program is noted");
	strangers = 0;
	gpu_note_state(&measure);
	check(foreign() == 1, "also when it has gone");
	json_decref(measure.environment);

	for (multi_instance = 0; multi_instance < 2; multi_instance++)
	{
		Member		other = {.result.outcome = OUTCOME_NONE};
		Measure		m = {.job = &job, .result = &other.result, .device.key = "cuda:0"};
		bool		prepared = gpu_prepare(&m, NULL);

		check(prepared == !multi_instance
			  && other.result.outcome == (multi_instance ? OUTCOME_LOST : OUTCOME_NONE),
			  multi_instance ? "but not in parts" : "a GPU is measured on as a whole");
	}
	return done();
}
