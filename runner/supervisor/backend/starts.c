/*
 * starts.c
 *		How processes of either device start: our own programs that load compiled code (exec-c,
 *		exec-cuda), and forks of PyTorch's parents, one of which makes inputs.
 */
#include "supervisor/backend.h"

#define START_SECONDS	30.0

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
		w->kind = a->role == ROLE_SCALAR ? WIRE_ARGUMENT_SCALAR
			: a->output >= 0 ? WIRE_ARGUMENT_OUTPUT : WIRE_ARGUMENT_INPUT;
		if (w->kind != WIRE_ARGUMENT_SCALAR)
			w->offset = a->output >= 0 ? m->output[a->output].offset
				: m->inputs.tensor[a->input].offset;
	}
	return memory_file("call", &call, sizeof(call));
}

bool
native_start(Measure *m, Executor *executor, Side code, const Arena *arena, const char *program,
			 Sandbox *sandbox)
{
	const char *inside = code == SIDE_REFERENCE ? "/code/reference/code.so"
		: "/code/candidate/code.so";
	char		path[PATH_MAX + 32];
	const char *argv[] = {path, m->options->unsandboxed ? m->code[code]->library : inside, NULL};
	int			call_fd = write_call(m, arena->slots);
	bool		started;

	snprintf(path, sizeof(path), "%s/%s", m->options->libdir, program);
	sandbox_set(sandbox, "PATH", "/usr/bin:/bin");
	sandbox_set(sandbox, "LANG", "C");
	sandbox->argv = argv;
	sandbox->cores = &m->device.cores;
	sandbox->file_bytes = OUTPUT_LIMIT;
	sandbox->unsandboxed = m->options->unsandboxed;
	sandbox->binds[sandbox->nbinds++] = (SandboxBind) {m->options->libdir, false};
	sandbox->binds[sandbox->nbinds++] = (SandboxBind) {m->code[code]->library, false, inside};
	started = executor_start(executor, sandbox, (int[]) {arena->inputs_fd, arena->outputs_fd,
							 call_fd, m->live.filter_fd}, 4);
	close(call_fd);
	return started && executor_ready(executor, START_SECONDS);
}

bool
torch_hand_arena(Measure *m, Arena *arena)
{
	bool		good = true;
	ExecutorResult result;
	WireOp		op = m->live.generating ? WIRE_ARENA : WIRE_DESCRIBE;
	double		start = clock_now();

	/* One generator runs the task's code for a whole measurement; it gets each new arena. */
	if (m->live.generating)
		m->live.generator.handed = arena->master_fd;
	else
		good = executor_fork(&m->live.generator, &m->live.zygote[GENERATOR_SEAT],
							 (int[]) {arena->master_fd, m->code[SIDE_REFERENCE]->source_fd}, 2,
							 START_SECONDS);
	m->live.generating = true;
	if (!good)
		return measure_failed(m, SIDE_REFERENCE, &m->live.generator, EXECUTOR_BROKEN,
							  "at the start of the generator");
	executor_freeze(&m->live.generator);
	m->live.generator.control->slot_bytes = m->inputs.slot_bytes;
	m->live.generator.control->gpu_bytes[0] = wire_gpu_bytes(arena->slots * m->inputs.slot_bytes);
	m->live.generator.control->gpu_bytes[1] = 0;
	result = executor_command(&m->live.generator, op, arena->slots, 0,
							  m->job->profile.build_seconds);
	measure_spent(m, SPENT_INPUTS, start);
	return measure_failed(m, SIDE_REFERENCE, &m->live.generator, result, "in get_inputs");
}

bool
torch_generate(Measure *m, Arena *arena, uint32_t n)
{
	ExecutorResult result = executor_command(&m->live.generator, WIRE_GENERATE, n, 0,
											 m->job->profile.build_seconds);

	return measure_failed(m, SIDE_REFERENCE, &m->live.generator, result, "in get_inputs");
}

bool
torch_fork(Measure *m, Executor *executor, int seat, const int *fds, int nfds)
{
	bool		forked = executor_fork(executor, &m->live.zygote[seat], fds, nfds, START_SECONDS);

	if (forked)
		sched_setaffinity(executor->pid, sizeof(m->device.cores), &m->device.cores);
	return forked;
}
