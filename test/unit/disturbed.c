/*
 * disturbed.c
 *		When a half on a GPU is measured again: other processes there, throttling, clocks that
 *		change. NVML is a stand-in.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

static void *open_stand_in(const char *name, int flags);
static void *find_stand_in(void *library, const char *name);

#define CUDAL1_VERSION "0"
#define dlopen open_stand_in
#define dlsym find_stand_in
#include "../../runner/supervisor/gpu/cuda_nvml.c"
#include "../../runner/supervisor/gpu/cuda_device.c"
#include "../../runner/common/text.c"

#include "tap.h"

#define OURS	3				/* processes: the supervisor and two executors */
#define TRIES	3				/* of a half */

static Job	job = {.profile = {.disturbed_attempts = TRIES}};
static Gpu	gpu;
static Member member;
static Measure measure = {.job = &job, .gpu = &gpu, .result = &member.result};
static Executor executors[2];
static unsigned int mhz;
static unsigned long long throttling;
static unsigned int strangers;	/* processes of others */

/* what cuda_device.c does elsewhere is not tried here */
void
measure_reap(Measure *m)
{
}

bool
conclude(Measure *m, Outcome outcome, const char *format,...)
{
	m->result->outcome = outcome;
	return false;
}

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
list_processes(NvmlRef device, unsigned int *n, NvmlProcess *processes)
{
	unsigned int room = *n;

	*n = OURS + strangers;
	if (room < *n)
		return 7;				/* NVML_ERROR_INSUFFICIENT_SIZE */
	for (unsigned int i = 0; i < *n; i++)
		processes[i].pid = i == 0 ? (unsigned int) getpid() : i < OURS
			? (unsigned int) executors[i - 1].pid : 100 + i;
	return 0;
}

static unsigned int multi_instance;

static int
say_mode(NvmlRef device, unsigned int *current, unsigned int *pending)
{
	*current = *pending = multi_instance;
	return 0;
}

static void *
open_stand_in(const char *name, int flags)
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

static void
begin(void)
{
	json_decref(measure.result->evidence);
	json_decref(measure.environment);
	measure.result->evidence = json_object();
	measure.environment = json_object();
	gpu = (Gpu) {.sm_mhz = {INT_MAX, 0},.temperature = {INT_MAX, 0}};
	mhz = 1980;
	throttling = 0;
	strangers = 0;
}

/* whether a half is made again whose clock is so many MHz at its beginning and its end */
static bool
half(unsigned int first, unsigned int last)
{
	mhz = first;
	gpu_begin_half(&measure);
	mhz = last;
	return gpu_disturbed(&measure, (Executor *const[]) {&executors[0], &executors[1]}, 2);
}

/* how many of so many halves, each with its tries, take another */
static int
tries(int halves, unsigned int first, unsigned int last)
{
	int			more = 0;

	for (int i = 0; i < halves; i++)
		for (int j = 1; half(first, last) && j < TRIES; j++)
			more++;
	return more;
}

static json_int_t
noted(int at, int which)
{
	const json_t *all = json_object_get(measure.result->evidence, "sm_mhz");

	return json_integer_value(json_array_get(json_array_get(all, (size_t) at), (size_t) which));
}

int
main(void)
{
	executors[0].pid = 31;
	executors[1].pid = 32;

	begin();
	check(!half(1980, 1980), "a GPU to itself, at a steady clock, disturbs no half");
	check(noted(0, 0) == 1980 && noted(0, 1) == 1980, "and its clock is noted");
	check(!half(1980, 1965), "a step of the clock is no change");
	check(half(1980, 1755) && half(1200, 1980), "a clock that falls or rises within a half is one");
	check(noted(2, 0) == 1980 && noted(2, 1) == 1755 && noted(3, 0) == 1200, "noted for each half");
	begin();
	check(tries(20, 1980, 1755) <= 2 * TRIES,
		  "where clocks never rest they are not waited for all the time");

	begin();
	throttling = 0x40;
	check(half(1980, 1980), "heat takes a half another try");
	throttling = 0x04;
	check(!half(1980, 1980), "a cap on power does not");

	begin();
	strangers = 1;
	check(half(1980, 1980), "so does a process of another program");
	check(json_integer_value(json_object_get(measure.result->evidence, "foreign_processes")) == 1,
		  "which is noted");
	strangers = 200;
	check(half(1980, 1980), "and more of them than a list holds");
	begin();
	strangers = 1;
	check(tries(20, 1980, 1980) <= 2 * TRIES, "one that stays is not waited for in each half anew");
	strangers = 0;
	half(1980, 1980);
	strangers = 1;
	check(half(1980, 1980), "but the next one is, when it had gone");
	json_decref(measure.result->evidence);
	json_decref(measure.environment);

	for (multi_instance = 0; multi_instance < 2; multi_instance++)
	{
		Member		other = {.result.outcome = OUTCOME_NONE};
		Measure		m = {.job = &job, .result = &other.result};
		bool		prepared = gpu_prepare(&m, "cuda:0", NULL);

		check(prepared == !multi_instance
			  && other.result.outcome == (multi_instance ? OUTCOME_LOST : OUTCOME_NONE),
			  multi_instance ? "but not in parts" : "a GPU is measured on as a whole");
		free(m.gpu);
	}
	return done();
}
