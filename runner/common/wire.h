/*
 * wire.h
 *		What cudal1-measure and its executors say to each other.
 *
 * Commands and replies are datagrams of one size on a SOCK_SEQPACKET pair; all that is larger lies
 * in shared memory. An executor is untrusted once it has loaded a candidate: of its control memory
 * only the tensor table and the text are looked at, each copied once before it is judged.
 * exec_torch.py unpacks the same structures by wire.py, which wire_layout.c writes.
 */
#ifndef CUDAL1_WIRE_H
#define CUDAL1_WIRE_H

#include <stdint.h>

#define WIRE_MAX_RUNS		256		/* runs in one window */
#define WIRE_MAX_TENSORS	16		/* inputs, or outputs, of one run */
#define WIRE_MAX_DIMS		8
#define WIRE_POOL_STARTS	16		/* a GPU's pool begins to give out in this part of it */
#define WIRE_LARGE_OUTPUT	1024	/* bytes, from which on an output's memory is looked at */

typedef enum WireOp
{
	WIRE_HELLO = 1,				/* executor -> supervisor, once: ready to load */
	/* seed: of the weights. PyTorch: how many a candidate has, or of a reference's were moved */
	WIRE_LOAD = 2,
	WIRE_RUN = 3,				/* one on slot `count`; a window: on slots 0 .. count - 1 */
	WIRE_GENERATE = 4,			/* generator: fill slots 0 .. count - 1 with fresh inputs */
	WIRE_DESCRIBE = 5,			/* generator: write the inputs' tensors into control memory */
	WIRE_FORK = 6,				/* zygote: fork an executor that takes the descriptors sent along */
	WIRE_ENDED = 7,				/* zygote: the fork that was asked for with this nonce may go */
	WIRE_ARENA = 8,				/* generator: other memory to fill comes along; count: its slots */
	/* PyTorch, a reference: control memory gets the names of what its runs change of its state */
	WIRE_STATE = 9,
	/* PyTorch, a candidate: is its text Python? No code of it runs, and nothing was loaded */
	WIRE_PARSE = 11,
	/*
	 * PyTorch, a reference that is not needed any more: how many operations a call with the inputs
	 * of slot `count` does, as PyTorch's FlopCounterMode, if there is one, counts them
	 */
	WIRE_OPERATIONS = 12,
} WireOp;

typedef enum WireStatus
{
	WIRE_OK = 0,
	/* control memory holds the text */
	WIRE_FAILED = 1,			/* the code raised an error */
	WIRE_UNSUPPORTED = 2,		/* the code is valid, but not what this executor can run */
	WIRE_FAULTED = 3,			/* a kernel of the code ended by a fault on the GPU */
} WireStatus;

#define WIRE_FLAG_SEED_RUNS		1	/* set the forward seed before each run */
/* a window: wait for the gate before each run, and say when the run is done */
#define WIRE_FLAG_GATED			2
/* PyTorch, of WIRE_LOAD: the reference's weights are copied to those of the same names */
#define WIRE_FLAG_BY_NAME		128
/* of WIRE_LOAD and WIRE_RUN, to find why code is wrong: all that a run starts is waited for */
#define WIRE_FLAG_WAITED		256
/*
 * PyTorch, of WIRE_RUN: a reference in half precision computes in single, if it can; the value of
 * the answer is the half's element type, or 0
 */
#define WIRE_FLAG_WIDER			512
/* PyTorch, of WIRE_LOAD: each run begins with the state that the model had when it was loaded */
#define WIRE_FLAG_RESTORED		1024
/* PyTorch, of WIRE_LOAD: parameters that begin as constants are moved */
#define WIRE_FLAG_MOVED			2048

/* PyTorch, in the value of the answer to WIRE_RUN: the first run has drawn random numbers */
#define WIRE_VALUE_RANDOM		1

/* the value of `gate` that ends a window */
#define WIRE_GATE_END			UINT32_MAX

/* addresses in an executor */
typedef struct WireStretch
{
	uint64_t	from;
	uint64_t	to;				/* the byte after the last */
} WireStretch;

/* PyTorch, in the value of the answer to WIRE_DESCRIBE: each call of get_inputs gives the same */
#define WIRE_VALUE_SAME			1

typedef struct WireMessage
{
	uint64_t	nonce;
	uint32_t	op;
	uint32_t	status;
	uint32_t	count;
	uint32_t	flags;
	uint64_t	seed;
	int64_t		value;
} WireMessage;

typedef enum WireDtype
{
	WIRE_NO_DTYPE,
#define DTYPE(NAME, ...) WIRE_##NAME,
#include "common/dtypes.h"
	WIRE_DTYPES,				/* above the element types */
	/* arguments of a PyTorch task that are no tensors, see WireTensor */
	WIRE_PY_INT = 32,
	WIRE_PY_FLOAT = 33,
	WIRE_PY_BOOL = 34,
	WIRE_PY_NONE = 35,
} WireDtype;

/*
 * An output, or an argument of a run. A number has 8 bytes, bit for bit: in its slot if `ndim` is
 * 1, and in `address` if `ndim` is 0, where it is the same in all calls.
 */
typedef struct WireTensor
{
	/* of an output, in its process, or on a GPU within the pool; of an argument, in its slot */
	uint64_t	address;
	uint32_t	dtype;
	uint32_t	ndim;
	int64_t		shape[WIRE_MAX_DIMS];
	int64_t		stride[WIRE_MAX_DIMS];	/* in elements */
} WireTensor;

/* control memory, one memfd for each executor */
typedef struct WireControl
{
	uint64_t	seeds[WIRE_MAX_RUNS];	/* forward seed of each run */
	uint64_t	slot_bytes;		/* distance between slots of inputs */
	/*
	 * PyTorch, of each argument: WIRE_TRAIT_...; from bit 8 on, 1 + the number of an earlier one
	 * that is the same object; from bit 16 on, the number of the first in its stretch of memory
	 */
	uint32_t	traits[WIRE_MAX_TENSORS];
	uint32_t	tensors;		/* entries for each run in the table */
	char		text[8188];		/* an error, NUL-terminated UTF-8 */
	WireTensor	table[WIRE_MAX_RUNS * WIRE_MAX_TENSORS];
	/* on a GPU: size of the memory of the inputs, and of the pool for all else */
	uint64_t	gpu_bytes[2];
	/* gates of a window that its process has come to; a run's part of the table is written then */
	uint32_t	ready;
	uint32_t	gate;			/* number of the run that may start, from 1 on; or WIRE_GATE_END */
	uint64_t	pool_used;		/* bytes of the pool, the most at once so far */
} WireControl;

#define WIRE_TRAIT_GRADIENT		1	/* requires_grad */
#define WIRE_TRAIT_PARAMETER	2	/* a torch.nn.Parameter */

/* allocations on a GPU are whole pages of 2 MiB */
static inline uint64_t
wire_gpu_bytes(uint64_t bytes)
{
	uint64_t	page = UINT64_C(2) << 20;

	return bytes == 0 ? page : (bytes + page - 1) & ~(page - 1);
}

/* C executor: how to call the entry, one memfd written before it starts */
typedef enum WireArgumentKind
{
	WIRE_ARGUMENT_INPUT = 1,	/* pointer into the input slots, mapped read-only */
	WIRE_ARGUMENT_OUTPUT = 2,	/* pointer into the output slots (out and inout) */
	WIRE_ARGUMENT_SCALAR = 3,
} WireArgumentKind;

typedef struct WireArgument
{
	uint32_t	kind;
	uint32_t	dtype;
	uint64_t	offset;			/* within the slot */
	uint8_t		scalar[8];
} WireArgument;

#define WIRE_MAX_ARGUMENTS	32

typedef struct WireCall
{
	char		entry[64];
	uint32_t	arguments;
	uint32_t	slots;
	uint64_t	input_slot_bytes;
	uint64_t	output_slot_bytes;
	uint64_t	data_limit;		/* RLIMIT_DATA, bytes */
	WireArgument argument[WIRE_MAX_ARGUMENTS];
} WireCall;

/* descriptors an executor is started with */
#define WIRE_FD_SOCKET		3
#define WIRE_FD_CONTROL		4
#define WIRE_FD_INPUTS		5
#define WIRE_FD_OUTPUTS		6
#define WIRE_FD_CALL		7
/* filters of system calls as BPF: before loading; of C, behind an instruction of zeros, after it */
#define WIRE_FD_FILTER		8

#endif							/* CUDAL1_WIRE_H */
