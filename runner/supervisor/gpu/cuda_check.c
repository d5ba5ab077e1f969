/*
 * cuda_check.c
 *		Outputs that lie on a GPU: where, read, compared.
 *
 * Whole outputs are copied aside and compared on the GPU by the rule of tensor_compare.
 */
#include "supervisor/gpu/cuda.h"
#include "supervisor/checks/checks.h"

/* pytorch: whether a table's entry describes a view within the pool, of an output's shape */
static bool
is_view(Measure *m, const Executor *executor, int output, const WireTensor *t, bool *contiguous)
{
	const Tensor *layout = &m->output[output];
	size_t		size = tensor_dtype(layout->dtype)->size;
	size_t		piece;
	uint64_t	span;

	*contiguous = true;
	/* Other dimensions of an empty tensor may be anything. */
	if (layout->elements == 0)
		return true;
	if (!executor_is_view(t, layout, &piece, &span))
		return false;
	*contiguous = piece == layout->elements;
	return t->address % size == 0 && span <= executor->pool->bytes / size
		&& t->address <= executor->pool->bytes && t->address + span * size <= executor->pool->bytes;
}

uint64_t
gpu_element(Measure *m, Executor *executor, const Arena *arena, uint32_t run, int output,
			uint64_t element)
{
	const Tensor *layout = &m->output[output];
	size_t		size = tensor_dtype(layout->dtype)->size;
	const WireTensor *t;
	bool		contiguous;

	if (!m->backend->module)
		return gpu_outputs(arena, executor_side(executor), run) + layout->offset + element * size;
	t = &executor_listed(executor, run, m->outputs)[output];
	if (t->ndim != layout->ndim || !is_view(m, executor, output, t, &contiguous))
		return 0;
	return executor->pool->address + t->address + tensor_place(layout, t->stride, element) * size;
}

bool
gpu_read(Measure *m, Executor *executor, const Arena *arena, uint32_t slot, int output, void *out)
{
	const Tensor *layout = &m->output[output];
	const WireTensor *listed = &executor->listed[output];
	Side		side = executor_side(executor);
	CuAddress	from = gpu_outputs(arena, side, slot) + layout->offset;
	CuAddress	to = (CuAddress) (uintptr_t) out;
	CudaView	view = {.layout = *layout};
	uint32_t	size = (uint32_t) tensor_dtype(layout->dtype)->size;
	void	   *parameters[] = {&from, &to, &size, &view.layout.elements, &view};
	bool		contiguous = true;

	if (m->backend->module)
	{
		if (!is_view(m, executor, output, listed, &contiguous))
			return measure_failed(m, side, executor, EXECUTOR_FORGED, "as an output was read");
		from = executor->pool->address + listed->address;
		memcpy(view.stride, listed->stride, sizeof(view.stride));
	}
	return (layout->elements == 0
			|| (contiguous ? gpu_good(m, m->gpu->driver.MemcpyDtoD(to, from, layout->bytes),
									  "to compare outputs")
				: gpu_launch(m, GPU_GATHER, layout->elements, 1, parameters)))
		&& gpu_synchronize(m);
}

/* by the rule of tensor_compare */
static bool
compare_elements(Measure *m, CuAddress expected, CuAddress found, uint32_t dtype, uint64_t n,
				 const Tolerance *tolerance, CudaComparison *c)
{
	Gpu		   *gpu = m->gpu;
	uint32_t	size = tensor_dtype_is_float(dtype) ? 0 : (uint32_t) tensor_dtype(dtype)->size;
	void	   *compare[] = {&expected, &found, &dtype, &size, &n, (void *) (uintptr_t) tolerance,
		&gpu->comparison};

	*c = (CudaComparison) {.first = ~0ULL};
	return gpu_good(m, gpu->driver.MemcpyHtoD(gpu->comparison, c, sizeof(*c)),
					"to compare arrays")
		&& gpu_launch(m, GPU_COMPARE, n, 1, compare)
		&& gpu_good(m, gpu->driver.MemcpyDtoH(c, gpu->comparison, sizeof(*c)),
					"to compare arrays");
}

bool
gpu_inputs_same(Measure *m, const Arena *arena, Side side, uint32_t slot, bool *same)
{
	CudaPieces	pieces = gpu_pieces(m, arena, side, slot);

	*same = true;
	for (uint32_t i = 0; i < pieces.n && *same; i++)
	{
		const CudaPiece *p = &pieces.piece[i];
		CudaComparison c;

		if (p->is_output)
			continue;
		/* as words, which have no tolerance */
		if (!compare_elements(m, p->from, p->to, WIRE_INT64, p->bytes / sizeof(int64_t),
							  &(Tolerance) {0}, &c))
			return false;
		*same = c.mismatches == 0;
	}
	return true;
}

static double
gpu_element_of(Measure *m, const void *array, uint32_t dtype, uint64_t element)
{
	size_t		size = tensor_dtype(dtype)->size;
	uint64_t	value = 0;

	gpu_good(m, m->gpu->driver.MemcpyDtoH(&value, (CuAddress) (uintptr_t) array + element * size,
										  size), "to compare outputs");
	return tensor_load(&value, dtype, 0);
}

static bool
gpu_compare(Measure *m, const void *expected, const void *found, int output,
			const Tolerance *tolerance, Comparison *result)
{
	const Tensor *t = &m->output[output];
	CudaComparison c;
	float		error;

	if (!compare_elements(m, (CuAddress) (uintptr_t) expected, (CuAddress) (uintptr_t) found,
						  t->dtype, t->elements, tolerance, &c))
		return false;
	memcpy(&error, &c.error_bits, sizeof(error));
	*result = (Comparison) {.error = error,.mismatches = c.mismatches,.infinite = c.infinite};
	result->equal = tensor_equal(tolerance, !tensor_dtype_is_float(t->dtype), t->elements, result);
	if (c.mismatches > 0)
	{
		result->first = c.first;
		result->expected = gpu_element_of(m, expected, t->dtype, c.first);
		result->found = gpu_element_of(m, found, t->dtype, c.first);
	}
	return m->result->outcome != OUTCOME_LOST;
}

static void *
gpu_input(Measure *m, const Arena *arena, uint32_t slot, int input)
{
	return (void *) (uintptr_t) (arena->gpu->master.address + slot * arena->input_slot_bytes
								 + m->inputs.tensor[input].offset);
}

static bool
gpu_copy(Measure *m, const Arena *arena, uint32_t from, uint32_t to)
{
	size_t		bytes = arena->input_slot_bytes;
	CuAddress	master = arena->gpu->master.address;

	return bytes == 0
		|| gpu_good(m, m->gpu->driver.MemcpyDtoD(master + to * bytes, master + from * bytes, bytes),
					"to copy inputs");
}

static bool
gpu_change(Measure *m, const Arena *arena, uint32_t from, uint32_t to, int input,
		   const Change *change)
{
	Tensor		t = m->inputs.tensor[input];
	void	   *source = gpu_input(m, arena, from, input);
	void	   *target = gpu_input(m, arena, to, input);
	void	   *parameters[] = {&source, &target, &t.dtype, &t.elements,
		(void *) (uintptr_t) change};

	return gpu_launch(m, GPU_CHANGE, t.elements, 1, parameters) && gpu_synchronize(m);
}

static bool
gpu_pick(Measure *m, const void *array, const Tensor *tensor, size_t count, double *values)
{
	Tensor		t = *tensor;
	void	   *to = gpu_alloc(m, count * sizeof(*values));
	void	   *parameters[] = {&array, &t.dtype, &t.elements, &count, &to};
	bool		good;

	if (!to)
		return conclude(m, OUTCOME_LOST, "no memory on the GPU");
	good = gpu_launch(m, GPU_PICK, count, 1, parameters)
		&& gpu_good(m, m->gpu->driver.MemcpyDtoH(values, (CuAddress) (uintptr_t) to,
												 count * sizeof(*values)), "to look at arrays");
	gpu_free(m, to);
	return good;
}

static bool
gpu_bases(Measure *m, const void *outputs, uint32_t n, const Tensor *tensor, void *bases)
{
	Tensor		t = *tensor;
	void	   *parameters[] = {&outputs, &m->output_bytes, &n, &t.dtype, &t.elements, &bases};

	return gpu_launch(m, GPU_BASES, t.elements, 1, parameters) && gpu_synchronize(m);
}

static bool
gpu_thin(Measure *m, const void *from, void *to, const Thinning *thin)
{
	void	   *parameters[] = {&from, &to, (void *) (uintptr_t) thin};

	return gpu_launch(m, GPU_THIN, thin->rows, 1, parameters) && gpu_synchronize(m);
}

static bool
gpu_take(Measure *m, void *memory, const void *from, size_t bytes)
{
	return gpu_good(m, m->gpu->driver.MemcpyHtoD((CuAddress) (uintptr_t) memory, from, bytes),
					"to compare outputs");
}

const ArrayCalls gpu_arrays = {
	.alloc = gpu_alloc, .free = gpu_free, .take = gpu_take, .input = gpu_input, .copy = gpu_copy,
	.change = gpu_change, .compare = gpu_compare, .pick = gpu_pick, .bases = gpu_bases,
	.thin = gpu_thin, .element = gpu_element_of,
};
