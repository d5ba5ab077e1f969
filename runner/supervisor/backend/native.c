/*
 * native.c
 *		Starts a program of our own that loads compiled code: exec-c, exec-cuda.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/backend/parts.h"

/* Writes the function to call and its arguments. */
static int
write_call(Measure *m, uint32_t slots)
{
	const Signature *s = &m->job->signature;
	WireCall	call;

	memset(&call, 0, sizeof(call));
	strcpy(call.entry, s->entry);
	call.arguments = (uint32_t) s->arguments;
	call.slots = slots;
	call.input_slot_bytes = m->inputs.slot_bytes;
	call.output_slot_bytes = m->output_slot_bytes;
	call.data_limit = (uint64_t) m->job->profile.memory_mb << 20;
	for (int i = 0; i < s->arguments; i++)
	{
		const Argument *a = &s->argument[i];
		WireArgument *w = &call.argument[i];

		w->dtype = a->tensor.dtype;
		memcpy(w->scalar, a->scalar, sizeof(w->scalar));
		if (a->role == ROLE_SCALAR)
			w->kind = WIRE_ARGUMENT_SCALAR;
		else if (a->output >= 0)
		{
			w->kind = WIRE_ARGUMENT_OUTPUT;
			w->offset = m->output[a->output].offset;
		}
		else
		{
			w->kind = WIRE_ARGUMENT_INPUT;
			w->offset = m->inputs.tensor[a->input].offset;
		}
	}
	return memory_file("call", &call, sizeof(call));
}

ExecutorResult
native_start(Measure *m, Executor *executor, Side code, const Arena *arena, const char *program,
			 Sandbox *sandbox)
{
	const char *inside = code == SIDE_REFERENCE ? "/code/reference/code.so"
		: "/code/candidate/code.so";
	char		path[PATH_MAX + 32];
	const char *argv[] = {path, m->options->unsandboxed ? m->code[code]->library : inside, NULL};
	int			call_fd = write_call(m, arena->slots);
	ExecutorResult result;

	snprintf(path, sizeof(path), "%s/%s", m->options->libdir, program);
	sandbox->argv = argv;
	sandbox->cores = &m->device.cores;
	sandbox->file_bytes = OUTPUT_LIMIT;
	sandbox->unsandboxed = m->options->unsandboxed;
	sandbox->binds[sandbox->nbinds++] = (SandboxBind) {m->options->libdir, false};
	sandbox->binds[sandbox->nbinds++] = (SandboxBind) {m->code[code]->library, false, inside};
	result = executor_start(executor, sandbox, arena, call_fd, m->live.filter_fd, START_SECONDS);
	close(call_fd);
	return result;
}
