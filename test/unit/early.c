/*
 * early.c
 *		What runs of audits on a GPU must show when they say that they are done: elements of the
 *		outputs that the executor lists in the end.
 */
#define _GNU_SOURCE
#include "../../runner/supervisor/gpu/cuda_audit.c"

#include "tap.h"

#define RUNS		5
#define ELEMENTS	64

static float made[RUNS + 1][ELEMENTS];	/* the last: what no run has made */
static float *listed[RUNS];				/* where the executor says that a run's output lies */
static uint32_t slots[RUNS];
static CudaSample items[2 * RUNS];
static uint64_t values[2 * RUNS];
static GpuEarly early[GPU_LATE_RUNS];
static Gpu	gpu = {.items = items,.values = values,.audit = {.early = early}};
static Measure measure = {.gpu = &gpu,.outputs = 1,
	.output = {{.dtype = WIRE_FLOAT32,.ndim = 1,.shape = {ELEMENTS},.elements = ELEMENTS}}};

bool
gpu_good(Measure *m, CuResult error, const char *doing)
{
	return error == 0;
}

bool
gpu_stream(Measure *m)
{
	return true;
}

bool
gpu_late_set(Measure *m, Arena *arena, const uint32_t *of, uint32_t first, uint32_t every,
			 uint32_t n)
{
	return true;
}

void
gpu_late_clear(Measure *m)
{
}

bool
gpu_late_is(const GpuLate *late, uint32_t run, uint32_t *i)
{
	return false;
}

uint64_t
random_below(RandomStream *stream, uint64_t n)
{
	static uint64_t drawn = 1;

	drawn = drawn * 6364136223846793005 + 1442695040888963407;
	return (drawn >> 33) % n;
}

size_t
tensor_dtype_size(uint32_t dtype)
{
	return sizeof(float);
}

CuAddress
gpu_element(Measure *m, Executor *executor, const Arena *arena, uint32_t run, uint32_t slot,
			int output, uint64_t element)
{
	return listed[run] ? (CuAddress) &listed[run][element] : 0;
}

bool
gpu_read_samples(Measure *m, uint64_t *to)
{
	for (uint32_t i = 0; i < gpu.nitems; i++)
	{
		to[i] = 0;
		memcpy(&to[i], (void *) items[i].address, items[i].bytes);
	}
	return true;
}

static CuResult
copy_rows(const CuCopy *copy, CuStreamRef stream)
{
	for (size_t row = 0; row < copy->height; row++)
		memcpy((char *) copy->to_host + row * copy->to_pitch,
			   (void *) (copy->from + row * copy->from_pitch), copy->width);
	return 0;
}

static CuResult
wait_for(CuStreamRef stream)
{
	return 0;
}

/*
 * whether an audit finds the runs' outputs as they said; `shown` is listed until a run is done
 * where it is not the output, and `changed` is what the executor writes after that
 */
static bool
audit(float *const *shown, float *changed)
{
	GpuSteps	steps = {.m = &measure,.slots = slots};
	bool		same;

	for (int run = 0; run < RUNS; run++)
		listed[run] = shown ? shown[run] : made[run];
	gpu_audit_begin(&measure);
	for (uint32_t run = 1; run <= RUNS; run++)
		gpu_audit_between(&steps, run, RUNS);
	for (int run = 0; run < RUNS; run++)
		listed[run] = made[run];
	for (int i = 0; changed && i < ELEMENTS; i++)
		changed[i] += 1;
	if (steps.failed || !gpu_audit_same(&measure, NULL, NULL, slots, &same))
		abort();
	return same;
}

int
main(void)
{
	float	   *nothing[RUNS] = {made[0]};
	float	   *other[RUNS] = {made[0], made[RUNS], made[RUNS], made[RUNS], made[RUNS]};
	float	   *one[RUNS] = {made[0], made[1], made[2], made[RUNS], made[4]};

	gpu.driver.Memcpy2DAsync = copy_rows;
	gpu.driver.StreamSynchronize = wait_for;
	for (int run = 0; run <= RUNS; run++)
		for (int i = 0; i < ELEMENTS; i++)
			made[run][i] = (float) (run * ELEMENTS + i);
	check(audit(NULL, NULL), "outputs that stay as they are pass");
	check(!audit(NULL, made[2]), "one that changes after its run was done does not");
	check(audit(NULL, made[0]), "but that of the first run, which is not timed");
	check(!audit(other, NULL), "runs that list another place until all are done do not");
	check(!audit(one, NULL), "nor does a single one");
	check(!audit(nothing, NULL), "nor do runs that list no place until then");
	measure.output[0].elements = 0;
	check(audit(nothing, NULL), "outputs without elements have none to show");
	return done();
}
