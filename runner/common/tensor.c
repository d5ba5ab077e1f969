/*
 * tensor.c
 *		Element types, layouts, and the comparison of outputs.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/tensor.h"

static const Dtype dtypes[WIRE_DTYPES] = {
	{"unknown"},
#define DTYPE(NAME, name, type, store, load, ffi, epsilon, rtol, atol, signature) \
	{#name, sizeof(type), epsilon, rtol, atol, signature},
#include "common/dtypes.h"
};

const Dtype *
tensor_dtype(uint32_t dtype)
{
	return &dtypes[dtype < WIRE_DTYPES ? dtype : WIRE_NO_DTYPE];
}

bool
tensor_dtype_is_float(uint32_t dtype)
{
	return tensor_dtype(dtype)->epsilon > 0;
}

uint32_t
tensor_dtype_parse(const char *name)
{
	for (uint32_t i = 1; i < WIRE_DTYPES; i++)
		if (dtypes[i].signature && strcmp(dtypes[i].name, name) == 0)
			return i;
	return WIRE_NO_DTYPE;
}

bool
tensor_finish(Tensor *tensor)
{
	size_t		elements = 1;

	if (tensor->ndim > WIRE_MAX_DIMS || tensor_dtype(tensor->dtype)->size == 0)
		return false;
	for (uint32_t i = 0; i < tensor->ndim; i++)
		if (tensor->shape[i] < 0 || __builtin_mul_overflow(elements, (size_t) tensor->shape[i],
														   &elements))
			return false;
	tensor->elements = elements;
	return !__builtin_mul_overflow(elements, tensor_dtype(tensor->dtype)->size, &tensor->bytes)
		&& tensor->bytes <= TENSOR_MAX_BYTES;
}

bool
tensor_span(const Tensor *layout, const int64_t *stride, uint64_t *span)
{
	*span = 1;
	for (uint32_t d = 0; d < layout->ndim; d++)
	{
		uint64_t	reach;

		if (stride[d] < 0 || __builtin_mul_overflow((uint64_t) layout->shape[d] - 1,
													(uint64_t) stride[d], &reach)
			|| __builtin_add_overflow(*span, reach, span) || *span > TENSOR_MAX_BYTES)
			return false;
	}
	return true;
}

bool
tensor_overlaps(const Tensor *layout, const int64_t *stride)
{
	uint64_t	reach = 0;		/* of the dimensions with lesser strides */
	bool		seen[WIRE_MAX_DIMS] = {false};

	if (layout->elements == 0)
		return false;
	for (uint32_t i = 0; i < layout->ndim; i++)
	{
		uint32_t	least = layout->ndim;

		for (uint32_t d = 0; d < layout->ndim; d++)
			if (!seen[d] && (least == layout->ndim || stride[d] < stride[least]))
				least = d;
		seen[least] = true;
		if (layout->shape[least] == 1)
			continue;
		if ((uint64_t) stride[least] <= reach)
			return true;
		reach += ((uint64_t) layout->shape[least] - 1) * (uint64_t) stride[least];
	}
	return false;
}

bool
tensor_apart(uint64_t address, const Tensor *layout, const int64_t *stride,
			 uint64_t other_address, const Tensor *other, const int64_t *other_stride)
{
	uint64_t	size = tensor_dtype(layout->dtype)->size;
	uint64_t	between = other_address - address;
	uint64_t	span;
	Tensor		both = {.dtype = layout->dtype,.ndim = layout->ndim + 1};
	int64_t		strides[WIRE_MAX_DIMS];

	if (other_address < address)
		return tensor_apart(other_address, other, other_stride, address, layout, stride);
	if (tensor_span(layout, stride, &span) && span * size <= between)
		return true;
	if (layout->dtype != other->dtype || layout->ndim != other->ndim
		|| both.ndim > WIRE_MAX_DIMS || between % size != 0)
		return false;
	/* an array of both, where the larger one is at either place */
	for (uint32_t d = 0; d < layout->ndim; d++)
	{
		if (stride[d] != other_stride[d])
			return false;
		both.shape[d] = layout->shape[d] > other->shape[d] ? layout->shape[d] : other->shape[d];
		strides[d] = stride[d];
	}
	both.shape[layout->ndim] = 2;
	strides[layout->ndim] = (int64_t) (between / size);
	return tensor_finish(&both) && !tensor_overlaps(&both, strides);
}

void
tensor_describe(const Tensor *tensor, char *text, size_t size)
{
	size_t		length = (size_t) snprintf(text, size, "%s [", tensor_dtype(tensor->dtype)->name);

	for (uint32_t i = 0; i < tensor->ndim && i < WIRE_MAX_DIMS && length < size; i++)
		length += (size_t) snprintf(text + length, size - length, "%s%lld", i ? ", " : "",
									(long long) tensor->shape[i]);
	if (length < size)
		snprintf(text + length, size - length, "]");
}

void
tensor_describe_values(uint32_t dtype, double one, double other, char text[2][TENSOR_VALUE_BYTES])
{
	/* an int64 has up to 19 digits, a double is told by 17 */
	int			digits = tensor_dtype_is_float(dtype) ? 7 : 19;

	/* a NaN's sign tells nothing */
	one = isnan(one) ? fabs(one) : one;
	other = isnan(other) ? fabs(other) : other;
	do
	{
		snprintf(text[0], TENSOR_VALUE_BYTES, "%.*g", digits, one);
		snprintf(text[1], TENSOR_VALUE_BYTES, "%.*g", digits, other);
	} while (digits++ < 17 && strcmp(text[0], text[1]) == 0);
}

#define BLOCK	4096			/* elements that are compared at once */

static void
mismatch(Comparison *result, size_t i, double expected, double found)
{
	if (result->mismatches++ == 0)
	{
		result->first = i;
		result->expected = expected;
		result->found = found;
	}
}

bool
tensor_equal(const Tolerance *tolerance, bool exact, size_t n, const Comparison *c)
{
	double		misses = tolerance->misses * (double) n;

	if (!exact && n >= TOLERANCE_ONE)
		misses = fmax(misses, 1);
	return c->mismatches == 0
		|| ((double) c->mismatches <= misses && (exact || c->error <= tolerance->farthest));
}

/*
 * The largest deviation of float32 in tolerances, many side by side: NaN or infinity where one is
 * not finite. Of numbers that are not negative the bits order as they do, NaN being the largest.
 */
static float
worst_float32(const float *expected, const float *found, size_t n, const Tolerance *tolerance,
			  const float *scales, const float *bases)
{
	const Tolerance t = *tolerance;
	int32_t		worst = 0;
	float		error;

	for (size_t i = 0; i < n; i++)
	{
		double		y = expected[i];
		double		allowed = tolerance_of(&t, y, t.scale * (scales ? scales[i] : 1),
										   bases ? bases[i] : t.base);
		int32_t		bits;

		/* of equal elements that are 0, where nothing is allowed */
		error = (float) fabs((found[i] - y) / (allowed + DBL_MIN));
		memcpy(&bits, &error, sizeof(bits));
		worst = bits > worst ? bits : worst;
	}
	memcpy(&error, &worst, sizeof(error));
	return error;
}

void
tensor_compare(const void *expected, const void *found, uint32_t dtype, size_t n,
			   const Tolerance *tolerance, Comparison *result)
{
	const Dtype *entry = tensor_dtype(dtype);

	memset(result, 0, sizeof(*result));
	result->equal = true;
	if (entry->epsilon == 0)
	{
		if (memcmp(expected, found, n * entry->size) == 0)
			return;
		for (size_t i = 0; i < n; i++)
			if (memcmp((const char *) expected + i * entry->size,
					   (const char *) found + i * entry->size, entry->size) != 0)
				mismatch(result, i, tensor_load(expected, dtype, i), tensor_load(found, dtype, i));
		result->error = INFINITY;
	}
	else
		for (size_t from = 0; from < n; from += BLOCK)
		{
			size_t		to = from + BLOCK < n ? from + BLOCK : n;
			const float *bases = tolerance->bases;
			float		worst = NAN;

			if (dtype == WIRE_FLOAT32)
				worst = worst_float32((const float *) expected + from, (const float *) found + from,
									  to - from, tolerance,
									  tolerance->scales ? tolerance->scales + from : NULL,
									  bases ? bases + from : NULL);
			if (worst < 1)
				result->error = fmax(result->error, worst);
			/* anything that deviates or is not finite is looked at with care */
			for (size_t i = from; i < to && !(worst < 1); i++)
			{
				double		y = tensor_load(expected, dtype, i);
				double		x = tensor_load(found, dtype, i);
				double		error = tensor_error(y, x, dtype, i, tolerance);

				result->infinite += !isfinite(y);
				result->error = tolerance_most(error, result->error);
				if (error > 1)
					mismatch(result, i, y, x);
			}
		}
	result->equal = tensor_equal(tolerance, entry->epsilon == 0, n, result);
}

void
tensor_change(const void *from, void *to, uint32_t dtype, size_t n, const Change *change)
{
	size_t		together = change->after > 0 ? change->after : n;

	for (size_t first = 0; first < n; first += together)
	{
		size_t		source = change_source(change, first);
		size_t		left = n - first < together ? n - first : together;

		if (dtype == WIRE_FLOAT32)
			for (size_t i = 0; i < left; i++)
				((float *) to)[first + i] =
					(float) change_of(change, ((const float *) from)[source + i], first + i);
		else
			for (size_t i = 0; i < left; i++)
			{
				double		x = change_of(change, tensor_load(from, dtype, source + i), first + i);

				tensor_store(to, dtype, first + i, x, (int64_t) x);
			}
	}
	for (size_t i = 0; change->halved && i < n; i++)
		if (change_large(change, i) == 0)
			tensor_store(to, dtype, i, 0, 0);
	for (uint32_t k = 0; k < change->outliers; k++)
	{
		size_t		i = change->outlier[k];

		tensor_store(to, dtype, i, change->large
					 * change_of(change, tensor_load(from, dtype, change_source(change, i)), i), 0);
	}
}
