/*
 * cuda.c
 *		The supervisor's own context on a GPU: memory that executors import, kernels, and where
 *		inputs lie.
 *
 * Arrays are allocations of their own (cuMemCreate) that executors import by descriptor; legacy IPC
 * handles do not cross process namespaces and expose what else lies in the same 2 MiB. Each side
 * has its own, since what a stopped process has sent to the GPU goes on: it could wait for what is
 * staged for the reference, change it, or copy what the reference makes of it.
 */
#include "supervisor/build/build.h"
#include "supervisor/gpu/cuda.h"

#define THREADS 256
#define MEMORY_PATIENCE 5.0		/* seconds */
#define POOL_BYTES ((size_t) 40 << 30)
#define FLUSH_TIMES ((size_t) 3)	/* as much as the GPU's largest cache holds */

bool
gpu_good(Measure *m, CuResult error, const char *doing)
{
	char		text[256];

	if (error == 0)
		return true;
	cuda_driver_error(&m->gpu->driver, error, text, sizeof(text));
	return conclude(m, OUTCOME_LOST, "the GPU fails %s: %s", doing, text);
}

bool
gpu_launch(Measure *m, GpuKernel kernel, uint64_t work, uint32_t rows, void **parameters)
{
	uint64_t	wanted = (work + THREADS - 1) / THREADS;
	uint64_t	most = (uint64_t) m->gpu->multiprocessors * 16 / rows + 1;

	return gpu_good(m, m->gpu->driver.LaunchKernel(m->gpu->kernel[kernel],
												   (uint32_t) (wanted < 1 ? 1 : wanted < most
															   ? wanted : most), rows, 1,
												   THREADS, 1, 1, 0, NULL, parameters, NULL),
					"to start a kernel");
}

bool
gpu_synchronize(Measure *m)
{
	return gpu_good(m, m->gpu->driver.CtxSynchronize(), "to end the supervisor's work");
}

/* memory */

static void
memory_destroy(GpuMemory *memory)
{
	if (memory->driver)
	{
		if (memory->address)
		{
			/* a fill of it may be under way, and its fault would end the context */
			memory->driver->CtxSynchronize();
			memory->driver->MemUnmap(memory->address, memory->bytes);
			memory->driver->MemAddressFree(memory->address, memory->bytes);
		}
		if (memory->handle)
			memory->driver->MemRelease(memory->handle);
		if (memory->fd >= 0)
			close(memory->fd);
	}
	memset(memory, 0, sizeof(*memory));
}

/* After a pause, whether to ask again: a killed process gives memory back a little later. */
static bool
may_come(CuResult error, double deadline)
{
	return error == CU_OUT_OF_MEMORY && clock_now() < deadline && usleep(20000) == 0;
}

static bool
memory_create(Measure *m, GpuMemory *memory, size_t bytes)
{
	Gpu		   *gpu = m->gpu;
	CuAllocation allocation = {.type = 1,.handle_types = 1,.location = {1, gpu->device}};
	double		deadline = clock_now() + MEMORY_PATIENCE;
	CuResult	error;

	memset(memory, 0, sizeof(*memory));
	memory->driver = &gpu->driver;
	memory->fd = -1;
	memory->bytes = wire_gpu_bytes(bytes);
	do
		error = gpu->driver.MemCreate(&memory->handle, memory->bytes, &allocation, 0);
	while (may_come(error, deadline));
	if (error == CU_OUT_OF_MEMORY && m->live.candidates > 0 && !m->group.shares)
		return measure_hoarded(m);
	if (error == 0)
		error = cuda_driver_map(&gpu->driver, gpu->device, memory->handle, memory->bytes,
								&memory->address);
	if (error == 0)
		error = gpu->driver.MemExportToShareableHandle(&memory->fd, memory->handle, 1, 0);
	if (error == 0)
		return true;
	memory_destroy(memory);
	return gpu_good(m, error, "to give shared memory");
}

static void
destroy_arena(GpuArena *arena)
{
	for (int i = 0; i < arena->sides; i++)
	{
		memory_destroy(&arena->inputs[i]);
		memory_destroy(&arena->outputs[i]);
	}
	memory_destroy(&arena->master);
	free(arena);
}

bool
gpu_make_arena(Measure *m, Arena *arena, uint32_t slots)
{
	GpuArena   *shared = measure_zeroed(1, sizeof(GpuArena));

	arena_init(arena);
	arena->slots = slots;
	arena->input_slot_bytes = m->inputs.slot_bytes;
	arena->output_slot_bytes = m->output_slot_bytes;
	shared->sides = 1 + (m->group.shares ? m->group.shares : 1);
	for (int i = 0; i < shared->sides; i++)
		shared->has[i] = i;
	arena->gpu = shared;
	arena->release = destroy_arena;
	for (int i = 0; i < shared->sides; i++)
		if (!memory_create(m, &shared->inputs[i], arena->slots * arena->input_slot_bytes)
			|| !memory_create(m, &shared->outputs[i], arena->slots * arena->output_slot_bytes))
			return false;
	if (!memory_create(m, &shared->master, arena->slots * arena->input_slot_bytes))
		return false;
	arena->master_fd = shared->master.fd;
	/* closed with the arena */
	shared->master.fd = -1;
	return true;
}

static int
place_of(const Arena *arena, Side side)
{
	return arena->gpu->has[side == SIDE_REFERENCE ? 0 : arena->place];
}

Arena
gpu_arena_of(const Arena *arena, Side side)
{
	Arena		own = *arena;

	own.inputs_fd = arena->gpu->inputs[place_of(arena, side)].fd;
	own.outputs_fd = arena->gpu->outputs[place_of(arena, side)].fd;
	return own;
}

/* Draws which memory each side has; while no candidate exists, as a process keeps what it maps. */
static void
draw_slots(Measure *m, const Arena *arena)
{
	int		   *has = arena->gpu->has;

	for (int i = 0; i < arena->gpu->sides; i++)
	{
		int			j = (int) random_below(&m->random, (uint64_t) i + 1);

		has[i] = has[j];
		has[j] = i;
	}
}

CuAddress
gpu_outputs(const Arena *arena, Side side, uint32_t slot)
{
	return arena->gpu->outputs[place_of(arena, side)].address + slot * arena->output_slot_bytes;
}

GpuMemory *
gpu_pool_create(Measure *m)
{
	Gpu		   *gpu = m->gpu;
	GpuMemory  *pool;

	if (gpu->pools > 0)
	{
		int			drawn = (int) random_below(&m->random, (uint64_t) gpu->pools);

		pool = gpu->pool[drawn];
		gpu->pool[drawn] = gpu->pool[--gpu->pools];
		return pool;
	}
	pool = measure_zeroed(1, sizeof(GpuMemory));
	if (memory_create(m, pool, m->group.shares ? gpu->set_pool_bytes : m->device.array_bytes))
		return pool;
	free(pool);
	return NULL;
}

static void
give_back_pools(Measure *m)
{
	while (m->gpu->pools > 0)
		gpu_pool_destroy(m->gpu->pool[--m->gpu->pools]);
}

/* Makes the pools of a pair's processes, and frees those that the last one did not take. */
static bool
make_pools(Measure *m, int n)
{
	GpuMemory  *pool[GPU_MAX_SIDES];
	int			made = 0;

	give_back_pools(m);
	while (made < n && (pool[made] = gpu_pool_create(m)) != NULL)
		made++;
	memcpy(m->gpu->pool, pool, (size_t) made * sizeof(*pool));
	m->gpu->pools = made;
	return made == n;
}

bool
gpu_draw_memory(Measure *m, Arena *arena)
{
	double		started = clock_now();
	bool		good;

	draw_slots(m, arena);
	good = !m->backend->module || make_pools(m, arena->gpu->sides);
	measure_spent(m, SPENT_START, started);
	return good;
}

size_t
gpu_memory_left(Measure *m)
{
	size_t		left = 0;
	size_t		total = 0;

	gpu_good(m, m->gpu->driver.MemGetInfo(&left, &total), "to tell its memory");
	return left;
}

void
gpu_pool_destroy(GpuMemory *pool)
{
	memory_destroy(pool);
	free(pool);
}

void *
gpu_alloc(Measure *m, size_t bytes)
{
	CuAddress	address = 0;
	double		deadline = clock_now() + MEMORY_PATIENCE;
	CuResult	error;

	do
		error = m->gpu->driver.MemAlloc(&address, bytes + 16);
	while (may_come(error, deadline));
	return error == 0 ? (void *) (uintptr_t) address : NULL;
}

void
gpu_free(Measure *m, void *memory)
{
	m->gpu->driver.MemFree((CuAddress) (uintptr_t) memory);
}

/* opening */

#ifdef CUDAL1_KERNELS
/* the text of a file, and a zero after it */
__asm__(".section .rodata\n.global gpu_kernels\ngpu_kernels:\n.incbin \"" CUDAL1_KERNELS "\"\n"
		".byte 0\n.previous\n");
#else
const char	gpu_kernels[] = "";
#endif

static bool
load_kernels(Measure *m)
{
	Gpu		   *gpu = m->gpu;
	CuModuleRef module;
	static const char *const names[GPU_KERNELS] = {"cudal1_fill", "cudal1_poison",
		"cudal1_gather", "cudal1_change", "cudal1_pick", "cudal1_bases", "cudal1_thin",
		"cudal1_compare"};

	if (!gpu_kernels[0])
		return conclude(m, OUTCOME_LOST, GPU_NO_KERNELS);
	if (!gpu_good(m, gpu->driver.ModuleLoadData(&module, gpu_kernels),
				  "to load the supervisor's kernels"))
		return false;
	for (int i = 0; i < GPU_KERNELS; i++)
		if (!gpu_good(m, gpu->driver.ModuleGetFunction(&gpu->kernel[i], module, names[i]),
					  "to find the supervisor's kernels"))
			return false;
	return true;
}

bool
gpu_start_driver(Measure *m)
{
	char		kept[PATH_MAX];

	/* By UUID it is the first device in any order of CUDA's numbers, and others are left alone. */
	setenv("CUDA_VISIBLE_DEVICES", m->device.key, 1);
	/* Keep what the driver compiles of our kernels, which takes it longer than a context. */
	if (build_cache_folder(m, ".driver", kept, sizeof(kept)))
		setenv("CUDA_CACHE_PATH", kept, 1);
	setenv("CUDA_CACHE_DISABLE", kept[0] ? "0" : "1", 1);
	/* One stream is used here, and queues for more take half of the time of a context. */
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
	return gpu_good(m, m->gpu->driver.Init(0), "to start");
}

bool
gpu_open(Measure *m)
{
	Gpu		   *gpu = m->gpu;
	int			multiprocessors = 0;
	int			cache = 0;
	size_t		left;

	if (!gpu_good(m, cuda_driver_open(&gpu->driver, &gpu->device), "to open a context"))
		return false;
	gpu->open = true;
	gpu->driver.DeviceGetAttribute(&multiprocessors, CU_ATTRIBUTE_MULTIPROCESSORS, gpu->device);
	gpu->driver.DeviceGetAttribute(&cache, CU_ATTRIBUTE_CACHE_BYTES, gpu->device);
	gpu->multiprocessors = multiprocessors > 0 ? multiprocessors : 1;
	gpu->flush_bytes = FLUSH_TIMES * (size_t) (cache > 0 ? cache : 1);
	if (!load_kernels(m)
		|| !gpu_good(m, gpu->driver.MemHostAlloc((void **) &gpu->few, GPU_FEW_BYTES, 1),
					 "to give page-locked memory")
		|| !gpu_good(m, gpu->driver.StreamCreate(&gpu->stream, 1), "to copy aside")
		|| !gpu_good(m, gpu->driver.MemAlloc(&gpu->comparison, sizeof(CudaComparison)),
					 "to give memory")
		|| !gpu_good(m, gpu->driver.MemAlloc(&gpu->flush, gpu->flush_bytes), "to give memory"))
		return false;
	left = gpu_memory_left(m);
	m->device.arena_bytes = left / 4;
	/* of a pair, two executors are alive at a time */
	m->device.array_bytes = left / 4 < POOL_BYTES ? left / 4 : POOL_BYTES;
	return left > 0;
}

void
gpu_close(Measure *m)
{
	Gpu		   *gpu = m->gpu;

	if (gpu)
		give_back_pools(m);
	if (gpu && gpu->open)
		gpu->driver.DevicePrimaryCtxRelease(gpu->device);
}

/* inputs */

void
gpu_unstage(Measure *m, const Arena *arena, uint32_t slot)
{
	CuAddress	inputs = arena->gpu->inputs[place_of(arena, SIDE_CANDIDATE)].address;
	unsigned char value = (unsigned char) random_below(&m->random, 256);
	bool		good = true;

	if (arena->input_slot_bytes > 0)
		good = gpu_good(m, m->gpu->driver.MemsetD8(inputs + slot * arena->input_slot_bytes, value,
												   arena->input_slot_bytes), "to overwrite inputs");
	if (good && arena->output_slot_bytes > 0)
		gpu_good(m, m->gpu->driver.MemsetD8(gpu_outputs(arena, SIDE_CANDIDATE, slot), value,
											arena->output_slot_bytes), "to overwrite outputs");
}

CudaPieces
gpu_pieces(const Measure *m, const Arena *arena, Side side, uint32_t slot)
{
	size_t		at = slot * arena->input_slot_bytes;
	CuAddress	master = arena->gpu->master.address + at;
	CuAddress	inputs = arena->gpu->inputs[place_of(arena, side)].address + at;
	CudaPieces	pieces = {.n = arena->input_slot_bytes > 0,
		.piece = {{master, inputs, arena->input_slot_bytes, false}}};

	if (m->backend->module)
		return pieces;
	pieces.n = (uint32_t) m->inputs.n;
	for (int i = 0; i < m->inputs.n; i++)
	{
		const Tensor *input = &m->inputs.tensor[i];
		int			output = m->inputs.parameter[i]->output;

		pieces.piece[i] = (CudaPiece) {
			.from = master + input->offset,
			.to = output < 0 ? inputs + input->offset
			: gpu_outputs(arena, side, slot) + m->output[output].offset,
			.bytes = measure_gathered(input), .is_output = output >= 0};
	}
	return pieces;
}
