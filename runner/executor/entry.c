/*
 * entry.c
 *		What exec-c and exec-cuda share: they take commands, and call the entry of compiled code,
 *		one slot a run.
 */
#include <dlfcn.h>
#include <errno.h>
#include <ffi.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/pages.h"
#include "executor/guard.h"

static ffi_cif cif;
static ffi_type *types[WIRE_MAX_ARGUMENTS];
/* of scalars, for the types of a signature's arguments */
static ffi_type *const scalar_type[WIRE_DTYPES] = {
	NULL,
#define DTYPE(NAME, name, type, store, load, ffi, ...) &ffi_type_##ffi,
#include "common/dtypes.h"
};
static void (*entry) (void);

WireControl *entry_control;
WireCall   *entry_call;
char	   *entry_inputs;
char	   *entry_outputs;

void
entry_fail(const char *text)
{
	fprintf(stderr, "executor: %s: %s\n", text, strerror(errno));
	_exit(125);
}

void *
entry_map(int fd, int protection)
{
	struct stat st;
	void	   *address;

	if (fstat(fd, &st) != 0)
		entry_fail("fstat");
	if (st.st_size == 0)
		return NULL;
	address = pages_map(fd, (size_t) st.st_size, protection, MAP_SHARED);
	if (address == MAP_FAILED)
		entry_fail("mmap");
	return address;
}

static void
reply(const WireMessage *command, uint32_t status)
{
	WireMessage message = {.nonce = command->nonce,.op = command->op,.status = status};

	if (send(WIRE_FD_SOCKET, &message, sizeof(message), MSG_NOSIGNAL) != sizeof(message))
		_exit(124);
}

void *
entry_load(const char *path)
{
	const WireCall *call = entry_call;
	char	   *text = entry_control->text;
	size_t		size = sizeof(entry_control->text);
	void	   *handle;

	for (uint32_t i = 0; i < call->arguments; i++)
		types[i] = call->argument[i].kind == WIRE_ARGUMENT_SCALAR
			? scalar_type[call->argument[i].dtype] : &ffi_type_pointer;
	if (ffi_prep_cif(&cif, FFI_DEFAULT_ABI, call->arguments, &ffi_type_void, types) != FFI_OK)
		entry_fail("ffi_prep_cif");
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
	{
		snprintf(text, size, "the code does not load: %s", dlerror());
		return NULL;
	}
	entry = (void (*) (void)) dlsym(handle, call->entry);
	if (!entry)
	{
		snprintf(text, size, "the code defines no function %s", call->entry);
		return NULL;
	}
	return handle;
}

static int
walk_segments(struct dl_phdr_info *info, size_t size, void *library)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
	{
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		const char *from = (const char *) (uintptr_t) (info->dlpi_addr + part->p_vaddr);

		if (info->dlpi_addr == ((struct link_map *) library)->l_addr && part->p_type == PT_LOAD
			&& !(part->p_flags & PF_X))
			cudal1_gate_walk(from, from + part->p_memsz);
	}
	return 0;
}

void
entry_walk(void *handle)
{
	struct link_map *library;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &library) == 0)
		dl_iterate_phdr(walk_segments, library);
}

static void
fill_arguments(uint32_t slot, void **pointers, void **arguments)
{
	const WireCall *call = entry_call;

	for (uint32_t i = 0; i < call->arguments; i++)
	{
		const WireArgument *a = &call->argument[i];

		if (a->kind == WIRE_ARGUMENT_SCALAR)
		{
			arguments[i] = (void *) a->scalar;
			continue;
		}
		pointers[i] = a->kind == WIRE_ARGUMENT_INPUT
			? entry_inputs + slot * call->input_slot_bytes + a->offset
			: entry_outputs + slot * call->output_slot_bytes + a->offset;
		arguments[i] = &pointers[i];
	}
}

void
entry_run(uint32_t flags, uint32_t slot, void (*end_run) (void))
{
	bool		gated = (flags & WIRE_FLAG_GATED) != 0;
	uint32_t	gate = 0;

	if (gated)
		cudal1_gate_begin(entry_control);
	/* The supervisor ends a window at the gate after its last run. */
	do
	{
		void	   *pointers[WIRE_MAX_ARGUMENTS];
		void	   *arguments[WIRE_MAX_ARGUMENTS];

		if (gated)
		{
			gate = cudal1_gate_wait(gate);
			if (gate == 0)
				return;
			slot = gate - 1;
		}
		fill_arguments(slot, pointers, arguments);
		ffi_call(&cif, entry, NULL, arguments);
		if (end_run)
			end_run();
	} while (gated);
}

void
entry_main(int argc, char **argv, uint32_t (*load) (const char *path, uint32_t flags),
		   uint32_t (*run) (uint32_t flags, uint32_t slot))
{
	WireMessage command = {.op = WIRE_HELLO};

	if (argc != 2)
	{
		fprintf(stderr, "usage: %s FILE.so\nStarted by cudal1-measure, which hands it its "
				"descriptors.\n", argv[0]);
		exit(2);
	}
	entry_control = entry_map(WIRE_FD_CONTROL, PROT_READ | PROT_WRITE);
	entry_call = entry_map(WIRE_FD_CALL, PROT_READ);
	if (cudal1_guard_read() != 0)
		entry_fail("filters");
	close(WIRE_FD_CONTROL);
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
			reply(&command, load(argv[1], command.flags));
		else if (command.op == WIRE_RUN)
			reply(&command, run(command.flags, command.count));
		else
			_exit(123);
	}
}
