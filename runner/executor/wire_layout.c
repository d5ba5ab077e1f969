/*
 * wire_layout.c
 *		Writes wire.py: the numbers of wire.h for executors in Python, as the compiler sees them.
 */
#include <stddef.h>
#include <stdio.h>

#include "common/tensor.h"

/* Python unpacks these without padding, so there must be none */
_Static_assert(offsetof(WireMessage, op) == 8 && offsetof(WireMessage, seed) == 24
			   && sizeof(WireMessage) == 40, "WireMessage is what MESSAGE says");
_Static_assert(offsetof(WireTensor, dtype) == 8 && offsetof(WireTensor, shape) == 16
			   && sizeof(WireTensor) == 16 + 16 * WIRE_MAX_DIMS, "WireTensor is what TENSOR says");
/* Supervisor and executor read the structures as they are. */
_Static_assert(sizeof(WireControl) % 8 == 0 && offsetof(WireControl, table) % 8 == 0
			   && offsetof(WireControl, gate) % 4 == 0, "WireControl is aligned");

#define NUMBER(name, value) printf("%s = %llu\n", name, (unsigned long long) (value))
#define WIRE(name) NUMBER(#name, WIRE_##name)
#define AT(name, field) NUMBER(name "_AT", offsetof(WireControl, field))

int
main(void)
{
	printf("\"\"\"The layout of wire.h, written by wire_layout.c.\"\"\"\n");
	/* nonce, op, status, count, flags, seed, value */
	printf("MESSAGE = \"=QIIIIQq\"\n");
	/* address, dtype, ndim, shape, stride */
	printf("TENSOR = \"=QII%dq%dq\"\n", WIRE_MAX_DIMS, WIRE_MAX_DIMS);
	WIRE(HELLO);
	WIRE(LOAD);
	WIRE(RUN);
	WIRE(GENERATE);
	WIRE(DESCRIBE);
	WIRE(FORK);
	WIRE(ENDED);
	WIRE(ARENA);
	WIRE(STATE);
	WIRE(PARSE);
	WIRE(OPERATIONS);
	WIRE(OK);
	WIRE(FAILED);
	WIRE(UNSUPPORTED);
	WIRE(FAULTED);
	NUMBER("SEED_RUNS", WIRE_FLAG_SEED_RUNS);
	NUMBER("GATED", WIRE_FLAG_GATED);
	NUMBER("BY_NAME", WIRE_FLAG_BY_NAME);
	NUMBER("WAITED", WIRE_FLAG_WAITED);
	NUMBER("RESTORED", WIRE_FLAG_RESTORED);
	NUMBER("MOVED", WIRE_FLAG_MOVED);
	NUMBER("RANDOM", WIRE_VALUE_RANDOM);
	NUMBER("SAME", WIRE_VALUE_SAME);
	NUMBER("GRADIENT", WIRE_TRAIT_GRADIENT);
	NUMBER("PARAMETER", WIRE_TRAIT_PARAMETER);
	WIRE(MAX_TENSORS);
	WIRE(MAX_DIMS);
	WIRE(MAX_RUNS);
	WIRE(FD_FILTER);
	WIRE(PY_INT);
	WIRE(PY_FLOAT);
	WIRE(PY_BOOL);
	WIRE(PY_NONE);
	printf("DTYPES = {");
	for (uint32_t dtype = 1; dtype < WIRE_PY_INT; dtype++)
		if (tensor_dtype_size(dtype) > 0)
			printf("%u: \"%s\", ", dtype, tensor_dtype_name(dtype));
	printf("}\nSIZES = {");
	for (uint32_t dtype = 1; dtype < WIRE_PY_INT; dtype++)
		if (tensor_dtype_size(dtype) > 0)
			printf("\"%s\": %zu, ", tensor_dtype_name(dtype), tensor_dtype_size(dtype));
	printf("}\n");
	AT("SLOTS", slots);
	AT("SEEDS", seeds);
	AT("TRAITS", traits);
	AT("SLOT_BYTES", slot_bytes);
	AT("TENSORS", tensors);
	AT("TEXT", text);
	AT("TABLE", table);
	AT("GPU_BYTES", gpu_bytes);
	AT("POOL_USED", pool_used);
	NUMBER("TEXT_BYTES", sizeof(((WireControl *) NULL)->text));
	return 0;
}
