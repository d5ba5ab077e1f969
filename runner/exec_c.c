/*
 * exec_c.c
 *		exec-c FILE.so: the executor of C code, for references and candidates alike.
 *
 * It maps the shared slots, loads the code behind the guard, and calls the entry as often as it is told, each call with the
 * pointers of a slot of its own. It knows neither the time nor what the outputs should be; while it is not its turn it is
 * stopped. Once the code is loaded nothing here is to be trusted, and nothing is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <ffi.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard.h"
#include "wire.h"

/* libraries, stacks, what the executor itself has mapped */
#define SPARE_BYTES ((uint64_t) 1 << 30)

static WireControl *control;
static WireCall *call;
static char *inputs;
static char *outputs;
static ffi_cif cif;
static ffi_type *types[WIRE_MAX_ARGUMENTS];
static void (*entry) (void);

static void
fail(const char *text)
{
	fprintf(stderr, "exec-c: %s: %s\n", text, strerror(errno));
	_exit(125);
}

static void *
map(int fd, int protection)
{
	struct stat st;
	void	   *address;

	if (fstat(fd, &st) != 0)
		fail("fstat");
	if (st.st_size == 0)
		return NULL;
	address = mmap(NULL, (size_t) st.st_size, protection, MAP_SHARED, fd, 0);
	if (address == MAP_FAILED)
		fail("mmap");
	return address;
}

static void
reply(const WireMessage *command, uint32_t status)
{
	WireMessage message = {.nonce = command->nonce,.op = command->op,.status = status};

	if (send(WIRE_FD_SOCKET, &message, sizeof(message), MSG_NOSIGNAL) != sizeof(message))
		_exit(124);
}

static ffi_type *
scalar_type(uint32_t dtype)
{
	switch (dtype)
	{
		case WIRE_FLOAT64:
			return &ffi_type_double;
		case WIRE_FLOAT32:
			return &ffi_type_float;
		case WIRE_INT64:
			return &ffi_type_sint64;
		case WIRE_INT32:
			return &ffi_type_sint32;
		case WIRE_INT16:
			return &ffi_type_sint16;
		case WIRE_INT8:
			return &ffi_type_sint8;
		case WIRE_FLOAT16:
		case WIRE_BFLOAT16:
			return &ffi_type_uint16;
		default:
			return &ffi_type_uint8;
	}
}

static uint32_t
load(const char *path)
{
	void	   *handle;

	for (uint32_t i = 0; i < call->arguments; i++)
		types[i] = call->argument[i].kind == WIRE_ARGUMENT_SCALAR ? scalar_type(call->argument[i].dtype) : &ffi_type_pointer;
	if (ffi_prep_cif(&cif, FFI_DEFAULT_ABI, call->arguments, &ffi_type_void, types) != FFI_OK)
		fail("ffi_prep_cif");
	/* one arena: a further one would open files for its bookkeeping */
	mallopt(M_ARENA_MAX, 1);
	/* freed memory stays mapped, so that a run does not pay for its predecessor's page faults */
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, -1);
	mallopt(M_TOP_PAD, 1 << 20);
	if (cudal1_guard_space(call->data_limit + call->slots * (call->input_slot_bytes + call->output_slot_bytes) + SPARE_BYTES) != 0
		|| cudal1_guard_enter(call->data_limit) != 0)
		fail("guard");
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
	{
		snprintf(control->text, sizeof(control->text), "the code does not load: %s", dlerror());
		return WIRE_FAILED;
	}
	entry = (void (*) (void)) dlsym(handle, call->entry);
	if (!entry)
	{
		snprintf(control->text, sizeof(control->text), "the code defines no function %s", call->entry);
		return WIRE_FAILED;
	}
	if (cudal1_guard_seal() != 0)
		fail("guard");
	return WIRE_OK;
}

static void
run(uint32_t count)
{
	for (uint32_t r = 0; r < count && r < WIRE_MAX_RUNS; r++)
	{
		uint32_t	slot = control->slots[r];
		void	   *pointers[WIRE_MAX_ARGUMENTS];
		void	   *arguments[WIRE_MAX_ARGUMENTS];

		for (uint32_t i = 0; i < call->arguments; i++)
		{
			const WireArgument *a = &call->argument[i];

			if (a->kind == WIRE_ARGUMENT_SCALAR)
			{
				arguments[i] = (void *) a->scalar;
				continue;
			}
			pointers[i] = a->kind == WIRE_ARGUMENT_INPUT
				? inputs + slot * call->input_slot_bytes + a->offset
				: outputs + slot * call->output_slot_bytes + a->offset;
			arguments[i] = &pointers[i];
		}
		ffi_call(&cif, entry, NULL, arguments);
	}
}

int
main(int argc, char **argv)
{
	WireMessage command = {.op = WIRE_HELLO};

	if (argc != 2)
	{
		fprintf(stderr, "usage: exec-c FILE.so\nStarted by cudal1-measure, which hands it its descriptors.\n");
		return 2;
	}
	control = map(WIRE_FD_CONTROL, PROT_READ | PROT_WRITE);
	inputs = map(WIRE_FD_INPUTS, PROT_READ);
	outputs = map(WIRE_FD_OUTPUTS, PROT_READ | PROT_WRITE);
	call = map(WIRE_FD_CALL, PROT_READ);
	if (cudal1_guard_read() != 0)
		fail("filters");
	close(WIRE_FD_CONTROL);
	close(WIRE_FD_INPUTS);
	close(WIRE_FD_OUTPUTS);
	close(WIRE_FD_CALL);
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	reply(&command, WIRE_OK);
	for (;;)
	{
		ssize_t		got = recv(WIRE_FD_SOCKET, &command, sizeof(command), 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got != sizeof(command))
			_exit(0);
		if (command.op == WIRE_LOAD)
			reply(&command, load(argv[1]));
		else if (command.op == WIRE_RUN)
		{
			run(command.count);
			reply(&command, WIRE_OK);
		}
		else
			_exit(123);
	}
}
