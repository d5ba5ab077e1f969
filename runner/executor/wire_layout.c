/*
 * wire_layout.c
 *		Writes of wire.py what a compiler alone knows, the layout of wire.h's structures. The rest
 *		is read from wire.h as it is (Makefile).
 */
#include <stddef.h>
#include <stdio.h>

#include "common/tensor.h"

/* Python unpacks these without padding, so there must be none */
_Static_assert(offsetof(WireMessage, op) == 8 && offsetof(WireMessage, seed) == 24
			   && sizeof(WireMessage) == 40, "WireMessage is what MESSAGE says");
_Static_assert(offsetof(WireTensor, dtype) == 8 && offsetof(WireTensor, shape) == 16
			   && sizeof(WireTensor) == 16 + 16 * WIRE_MAX_DIMS, "WireTensor is what TENSOR says");
_Static_assert(WIRE_DTYPES <= WIRE_PY_INT, "tensors and other arguments are told apart");
/* Supervisor and executor read the structures as they are. */
_Static_assert(sizeof(WireControl) % 8 == 0 && offsetof(WireControl, table) % 8 == 0
			   && offsetof(WireControl, gate) % 4 == 0, "WireControl is aligned");

#define AT(name, field) printf("%s_AT = %zu\n", name, offsetof(WireControl, field))

int
main(void)
{
	/* nonce, op, status, count, flags, seed, value */
	printf("MESSAGE = \"=QIIIIQq\"\n");
	/* address, dtype, ndim, shape, stride */
	printf("TENSOR = \"=QII%dq%dq\"\n", WIRE_MAX_DIMS, WIRE_MAX_DIMS);
	/* number, and bytes of an element */
	printf("DTYPES = {");
	for (uint32_t dtype = 1; dtype < WIRE_DTYPES; dtype++)
		printf("\"%s\": (%u, %zu), ", tensor_dtype(dtype)->name, dtype, tensor_dtype(dtype)->size);
	printf("}\n");
	AT("SEEDS", seeds);
	AT("TRAITS", traits);
	AT("SLOT_BYTES", slot_bytes);
	AT("TENSORS", tensors);
	AT("TEXT", text);
	AT("TABLE", table);
	AT("GPU_BYTES", gpu_bytes);
	AT("POOL_USED", pool_used);
	printf("TEXT_BYTES = %zu\n", sizeof(((WireControl *) NULL)->text));
	return 0;
}
