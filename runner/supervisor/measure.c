/*
 * measure.c
 *		One measurement, from the build to the verdict.
 *
 * Order of events: build both sides without holding the device; take the device; let the reference run against itself in two
 * processes; let the candidate run on the same inputs, checked; then rounds.c times fresh pairs. The supervisor alone knows the
 * seeds, the expected outputs and the time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/measure.h"

#define OUTPUT_LIMIT	((off_t) 16 << 20)	/* what an executor may print */
#define START_SECONDS	30.0
#define NAME_BEGINS		8		/* bytes by which a name is known that was cut off */
#define BUILD_APART_CORES	4

/* set the outcome once; the first one stands. Always false, so that callers can return it. */
/* what a trainer reads names nothing of a folder of ours, nor the beginning of its name where the text was cut off */
void
measure_leave_out(char *text, const char *folder)
{
	size_t		length = strlen(folder);
	size_t		rest;
	char	   *at = text;

	while (length > 0 && (at = strstr(at, folder)) != NULL)
	{
		size_t		skip = length + (at[length] == '/');

		memmove(at, at + skip, strlen(at + skip) + 1);
	}
	rest = strlen(text);
	for (size_t n = length > rest ? rest : length; n >= NAME_BEGINS; n--)
		if (memcmp(text + rest - n, folder, n) == 0)
		{
			text[rest - n] = '\0';
			break;
		}
}

bool
conclude(Measure *m, Outcome outcome, const char *format,...)
{
	va_list		arguments;

	if (m->result.outcome != OUTCOME_NONE)
		return false;
	/* nothing that goes wrong between two references is a candidate's doing */
	if (m->aa && outcome != OUTCOME_LOST && outcome != OUTCOME_CANCELLED)
		outcome = OUTCOME_UNVERIFIED;
	m->result.outcome = outcome;
	if (format)
	{
		char		text[4096];

		va_start(arguments, format);
		vsnprintf(text, sizeof(text), format, arguments);
		va_end(arguments);
		measure_leave_out(text, m->scratch);
		clean_text(m->result.detail, sizeof(m->result.detail), text, strlen(text));
	}
	return false;
}

static const char *
signal_text(int number)
{
	switch (number)
	{
		case SIGSEGV:
			return "SIGSEGV, a bad memory access";
		case SIGBUS:
			return "SIGBUS, a bad memory access";
		case SIGFPE:
			return "SIGFPE, an integer division by zero or overflow";
		case SIGILL:
			return "SIGILL, an illegal instruction";
		case SIGABRT:
			return "SIGABRT";
		case SIGSYS:
			return "a forbidden system call (processes, signals, sockets and files are closed to candidates)";
		case SIGXFSZ:
			return "printing more than it may";
		case SIGKILL:
			return "SIGKILL, perhaps for want of memory";
		default:
			return strsignal(number);
	}
}

/* a person, the kernel short of memory, or a batch system that ends all processes of a job, us a moment later than the code */
static bool
is_from_outside(int number)
{
	return number == SIGKILL || number == SIGTERM || number == SIGINT || number == SIGHUP;
}

/* turns what went wrong into an outcome; false always */
bool
measure_failed(Measure *m, Side side, Executor *executor, ExecutorResult result, const char *when)
{
	char		log[900] = "";
	struct stat st = {.st_size = 0};
	const char *who = side == SIDE_CANDIDATE && !m->aa ? "the code" : "the reference";
	/* whatever goes wrong with a reference is no candidate's fault */
	Outcome		crash = side == SIDE_CANDIDATE ? OUTCOME_CRASH : OUTCOME_UNVERIFIED;

	if (result == EXECUTOR_OK)
		return true;
	if (executor_cancelled)
		return conclude(m, OUTCOME_CANCELLED, NULL);
	executor_log(executor, log, sizeof(log));
	if (executor->log_fd >= 0)
		fstat(executor->log_fd, &st);
	switch (result)
	{
		case EXECUTOR_OK:
			break;
		case EXECUTOR_FAILED:
			/* it had enough alone, and what others hold would have failed it then */
			if (m->gpu && side == SIDE_REFERENCE && m->candidates > 0 && strstr(executor->text, "out of memory"))
				return conclude(m, OUTCOME_CRASH, "the code holds so much of the GPU's memory that too little is left for the reference");
			if (side == SIDE_REFERENCE)
				return conclude(m, OUTCOME_UNVERIFIED, "the reference fails %s: %s", when, executor->text);
			if (st.st_size >= OUTPUT_LIMIT)
				return conclude(m, OUTCOME_CRASH, "%s printed more than %d MiB %s", who, (int) (OUTPUT_LIMIT >> 20), when);
			return conclude(m, strncmp(executor->text, "SyntaxError", 11) == 0 || strncmp(executor->text, "IndentationError", 16) == 0
							? OUTCOME_COMPILE_ERROR : OUTCOME_LAUNCH_FAILURE, "%s fails %s: %s", who, when, executor->text);
		case EXECUTOR_FAULTED:
			return conclude(m, crash, "%s: a kernel failed %s: %s", who, when, executor->text);
		case EXECUTOR_UNSUPPORTED:
			return conclude(m, side == SIDE_CANDIDATE ? OUTCOME_LAUNCH_FAILURE : OUTCOME_UNVERIFIED, "%s: %s", who, executor->text);
		case EXECUTOR_TIMEOUT:
			return conclude(m, side == SIDE_CANDIDATE ? OUTCOME_TIMEOUT : OUTCOME_UNVERIFIED,
							"%s did not end within its time limit %s%s%s", who, when, log[0] ? "; it printed: " : "", log);
		case EXECUTOR_ENDED:
			if (st.st_size >= OUTPUT_LIMIT)
				return conclude(m, crash, "%s printed more than %d MiB %s", who, (int) (OUTPUT_LIMIT >> 20), when);
			m->killed = executor->wait_status >= 0 && WIFSIGNALED(executor->wait_status) && is_from_outside(WTERMSIG(executor->wait_status));
			if (executor->wait_status >= 0 && WIFSIGNALED(executor->wait_status))
				return conclude(m, crash, "%s ended by %s %s%s%s", who, signal_text(WTERMSIG(executor->wait_status)), when,
								log[0] ? "; it printed: " : "", log);
			return conclude(m, crash, "%s ended its process (status %d) %s%s%s", who,
							executor->wait_status >= 0 ? WEXITSTATUS(executor->wait_status) : -1, when, log[0] ? "; it printed: " : "", log);
		case EXECUTOR_FORGED:
			json_object_set_new(m->result.evidence, "detector", json_string("protocol"));
			return conclude(m, side == SIDE_CANDIDATE ? OUTCOME_CHEAT : OUTCOME_UNVERIFIED,
							"%s interfered with the measurement %s", who, when);
		case EXECUTOR_AWAKE:
			json_object_set_new(m->result.evidence, "detector", json_string("awake"));
			return conclude(m, executor->intruder ? OUTCOME_CHEAT : OUTCOME_UNVERIFIED,
							"%s had itself woken: it was at work while it was stopped, outside its turn", executor->intruder ? "the code" : "the reference");
		case EXECUTOR_BROKEN:
			break;
	}
	return conclude(m, OUTCOME_LOST, "an executor could not be started or reached %s: %s%s%s", when, strerror(errno),
					log[0] ? "; it printed: " : "", log);
}

void
measure_progress(Measure *m, const char *phase, int pairs, int rounds, double estimate, double lower, double upper, double left,
				 bool force)
{
	double		now = clock_now();

	if (!force && now - m->last_progress < 0.5)
		return;
	m->last_progress = now;
	if (m->options->person)
	{
		fprintf(stderr, "\r\033[K%-12s", phase);
		if (rounds > 0)
			fprintf(stderr, " pairs %d, rounds %d", pairs, rounds);
		if (isfinite(estimate))
			fprintf(stderr, ", speedup %.3f", estimate);
		if (isfinite(lower))
			fprintf(stderr, " (%.3f to %.3f)", lower, upper);
		if (isfinite(left))
			fprintf(stderr, ", about %.1f s left", left);
		return;
	}
	if (!m->options->lines)
		return;
	printf("{\"type\": \"progress\", \"phase\": \"%s\", \"pairs\": %d, \"rounds\": %d", phase, pairs, rounds);
	if (isfinite(estimate))
		printf(", \"estimate\": %.6g", estimate);
	if (isfinite(lower) && isfinite(upper))
		printf(", \"lower\": %.6g, \"upper\": %.6g", lower, upper);
	if (isfinite(left))
		printf(", \"seconds_left\": %.3g", left);
	printf("}\n");
	fflush(stdout);
}

double
measure_spent(Measure *m, Spending on, double start)
{
	double		now = clock_now();

	m->result.spent[on] += now - start;
	return now;
}

static int
write_call(Measure *m, uint32_t slots)
{
	const Signature *s = &m->job->signature;
	WireCall	call;
	int			in = 0,
				out = 0;

	memset(&call, 0, sizeof(call));
	strcpy(call.entry, s->entry);
	call.arguments = (uint32_t) s->arguments;
	call.slots = slots;
	call.input_slot_bytes = m->input_slot_bytes;
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
		else if (a->role == ROLE_IN)
		{
			w->kind = WIRE_ARGUMENT_INPUT;
			w->offset = m->input[in++].offset;
		}
		else
		{
			in += a->role == ROLE_INOUT;
			w->kind = WIRE_ARGUMENT_OUTPUT;
			w->offset = m->output[out++].offset;
		}
	}
	return memory_file("call", &call, sizeof(call));
}

/* c and cuda: a program of our own that loads the compiled code */
static ExecutorResult
launch_native(Measure *m, Executor *executor, Side code, const Arena *arena)
{
	bool		gpu = m->job->language == LANGUAGE_CUDA;
	char		program[PATH_MAX + 32];
	const char *inside = code == SIDE_REFERENCE ? "/code/reference/code.so" : "/code/candidate/code.so";
	const char *argv[] = {program, m->options->unsandboxed ? m->library[code] : inside, NULL};
	const char *environment[24] = {"PATH", "/usr/bin:/bin", "LANG", "C", NULL};
	Sandbox		sandbox = {.argv = argv,.environment = environment,.cores = &m->cores,.file_bytes = OUTPUT_LIMIT,
		/* the CUDA driver looks into /proc; with exec-cuda for process 1 there is no other process to be found there */
		.no_proc = !gpu,.first = gpu,.unsandboxed = m->options->unsandboxed};
	int			call_fd = write_call(m, arena->slots);
	ExecutorResult result;

	snprintf(program, sizeof(program), "%s/%s", m->options->libdir, gpu ? "exec-cuda" : "exec-c");
	sandbox.binds[sandbox.nbinds++] = (SandboxBind) {m->options->libdir, false};
	sandbox.binds[sandbox.nbinds++] = (SandboxBind) {m->library[code], false, inside};
	if (gpu)
	{
		int			n = gpu_sandbox(m->gpu, &sandbox, environment, 4);

		/* a context's queues for streams are half of what takes time to make and to end */
		if (!strcasestr(m->job->reference, "stream") && !strcasestr(m->job->code, "stream"))
		{
			environment[n++] = "CUDA_DEVICE_MAX_CONNECTIONS";
			environment[n++] = "1";
		}
	}
	result = executor_start(executor, &sandbox, arena, call_fd, m->filter_fd, START_SECONDS);
	close(call_fd);
	return result;
}

/* `code`: whose code it runs, `side`: in whose memory on a GPU, which is what blocks of that side are staged in */
static bool
launch(Measure *m, Executor *executor, Side code, Side side, int seat, const Arena *shared, uint64_t weight_seed)
{
	Arena		own = m->gpu ? gpu_arena_of(shared, side) : *shared;
	const Arena *arena = &own;
	ExecutorResult result;
	double		limit,
				started;

	if (m->job->language != LANGUAGE_PYTORCH)
		result = launch_native(m, executor, code, arena);
	else
	{
		int			fds[] = {arena->inputs_fd, m->source_fd[code], -1};
		struct GpuMemory *pool = NULL;

		if (m->gpu)
		{
			started = clock_now();
			pool = gpu_pool_create(m);
			started = measure_spent(m, SPENT_MEMORY, started) - started;
			m->result.spent[SPENT_START] -= started;
			if (!pool)
				return conclude(m, OUTCOME_LOST, "no memory on the GPU");
			fds[2] = pool->fd;
		}
		result = executor_fork(executor, &m->zygote[seat], fds, m->gpu ? 3 : 2, START_SECONDS);
		executor->pool = pool;
		if (result == EXECUTOR_OK)
			sched_setaffinity(executor->pid, sizeof(m->cores), &m->cores);
	}
	if (result != EXECUTOR_OK)
		return measure_failed(m, code, executor, result == EXECUTOR_TIMEOUT || result == EXECUTOR_ENDED ? EXECUTOR_BROKEN : result,
							  "at its start");
	executor->hostile = code == SIDE_CANDIDATE;
	executor->side = (int) side;
	m->candidates += executor->hostile;
	executor_freeze(executor);
	executor->attentive = m->spare_core;
	executor->one_core = CPU_COUNT(&m->cores) == 1 && executor->schedstat_fd >= 0;
	/* where the slots' inputs lie, for executors that make their own views of them */
	executor->control->slot_bytes = m->input_slot_bytes;
	executor->control->tensors = (uint32_t) m->inputs;
	executor->control->gpu_bytes[0] = wire_gpu_bytes(arena->slots * m->input_slot_bytes);
	executor->control->gpu_bytes[1] = executor->pool ? executor->pool->bytes : 0;
	for (int i = 0; i < m->inputs; i++)
	{
		WireTensor *t = &executor->control->table[i];

		executor->control->offsets[i] = m->input[i].offset;
		t->dtype = m->input[i].dtype;
		t->ndim = m->input[i].ndim;
		t->address = m->input_value[i];
		memcpy(t->shape, m->input[i].shape, sizeof(t->shape));
	}
	/* every pair loads the code afresh: its limit is on all of that together, beyond what the reference's loading takes */
	limit = m->job->profile.build_seconds;
	if (code == SIDE_CANDIDATE)
		limit = fmax(limit + m->load_seconds[SIDE_REFERENCE] - m->load_seconds[SIDE_CANDIDATE], 0.1);
	started = clock_now();
	result = executor_command(executor, WIRE_LOAD, arena->slots, 0, weight_seed, limit, NULL);
	m->load_seconds[code] += clock_now() - started;
	return measure_failed(m, code, executor, result, "while it was loaded");
}

bool
measure_launch(Measure *m, Executor *executor, Side side, int seat, const Arena *arena, uint64_t weight_seed)
{
	Side		code = m->aa ? SIDE_REFERENCE : side;
	double		started = clock_now();
	double		loading = m->load_seconds[code];
	bool		good = launch(m, executor, code, side, seat, arena, weight_seed);

	loading = m->load_seconds[code] - loading;
	m->result.spent[SPENT_LOAD] += loading;
	m->result.spent[SPENT_START] -= loading;
	m->result.startup_seconds += measure_spent(m, SPENT_START, started) - started;
	return good;
}

void
measure_end(Measure *m, Executor *executor)
{
	double		started = clock_now();

	m->candidates -= executor->hostile;
	executor_end(executor);
	m->result.startup_seconds += measure_spent(m, SPENT_END, started) - started;
}

static bool
generate(Measure *m, Arena *arena, const uint32_t *slots, uint32_t n)
{
	const Signature *s = &m->job->signature;

	if (m->generating)
	{
		ExecutorResult result;

		memcpy(m->generator.control->slots, slots, n * sizeof(*slots));
		random_key(&m->random, &m->generator.secret);
		result = executor_command(&m->generator, WIRE_GENERATE, n, 0, 0, m->job->profile.build_seconds, NULL);
		return measure_failed(m, SIDE_REFERENCE, &m->generator, result, "in get_inputs");
	}
	if (m->gpu)
		return gpu_generate(m, arena, slots, n);
	for (uint32_t r = 0; r < n; r++)
	{
		char	   *slot = arena->master + slots[r] * arena->input_slot_bytes;
		char	   *direct = arena->inputs + slots[r] * arena->input_slot_bytes;
		int			in = 0;

		for (int i = 0; i < s->arguments; i++)
		{
			const Argument *a = &s->argument[i];
			RandomKey	key;

			if (a->role != ROLE_IN && a->role != ROLE_INOUT)
				continue;
			random_key(&m->random, &key);
			random_fill((a->role == ROLE_IN && arena->direct ? direct : slot) + m->input[in].offset, a->tensor.dtype, a->tensor.elements,
						a->init, a->low, a->high, &key);
			in++;
		}
	}
	return true;
}

bool
measure_generate(Measure *m, Arena *arena, const uint32_t *slots, uint32_t n)
{
	double		started = clock_now();
	bool		good = generate(m, arena, slots, n);

	measure_spent(m, SPENT_INPUTS, started);
	return good;
}

static void
poison(Measure *m, char *out, size_t bytes)
{
	size_t		at = (size_t) random_below(&m->random, NOISE_BYTES / 2);

	while (bytes > 0)
	{
		size_t		n = bytes < NOISE_BYTES - at ? bytes : NOISE_BYTES - at;

		memcpy(out, m->noise + at, n);
		out += n;
		bytes -= n;
		at = 0;
	}
}

static bool
stage(Measure *m, Arena *arena, Side side, const uint32_t *slots, uint32_t n)
{
	const Signature *s = &m->job->signature;

	if (m->gpu)
		return gpu_stage(m, arena, side, slots, n);
	for (uint32_t r = 0; r < n; r++)
	{
		const char *from = arena->master + slots[r] * arena->input_slot_bytes;
		char	   *in_slot = arena->inputs + slots[r] * arena->input_slot_bytes;
		char	   *out_slot = arena->outputs + slots[r] * arena->output_slot_bytes;
		int			in = 0,
					out = 0;

		if (m->job->language == LANGUAGE_PYTORCH)
		{
			memcpy(in_slot, from, arena->input_slot_bytes);
			continue;
		}
		for (int i = 0; i < s->arguments; i++)
		{
			switch (s->argument[i].role)
			{
				case ROLE_IN:
					if (!arena->direct)
						memcpy(in_slot + m->input[in].offset, from + m->input[in].offset, m->input[in].bytes);
					in++;
					break;
				case ROLE_INOUT:
					memcpy(out_slot + m->output[out].offset, from + m->input[in].offset, m->input[in].bytes);
					in++;
					out++;
					break;
				case ROLE_OUT:
					poison(m, out_slot + m->output[out].offset, m->output[out].bytes);
					out++;
					break;
				case ROLE_SCALAR:
					break;
			}
		}
	}
	return true;
}

bool
measure_stage(Measure *m, Arena *arena, Side side, const uint32_t *slots, uint32_t n)
{
	double		started = clock_now();
	bool		good = stage(m, arena, side, slots, n);

	measure_spent(m, SPENT_STAGE, started);
	return good;
}

void
measure_unstage(Measure *m, Arena *arena, uint32_t slot)
{
	poison(m, arena->inputs + slot * arena->input_slot_bytes, arena->input_slot_bytes);
	if (m->job->language != LANGUAGE_PYTORCH)
		poison(m, arena->outputs + slot * arena->output_slot_bytes, arena->output_slot_bytes);
}

static bool
block(Measure *m, Executor *executor, Side side, const uint32_t *slots, const uint64_t *seeds, uint32_t n, double timeout, double *elapsed)
{
	ExecutorResult result;

	if (!measure_poison(m, executor, side))
		return false;
	executor->memory.runs = n;
	memcpy(executor->control->slots, slots, n * sizeof(*slots));
	if (m->seeds_runs)
		memcpy(executor->control->seeds, seeds, n * sizeof(*seeds));
	if (m->gpu)
	{
		result = executor_look(executor);
		if (result != EXECUTOR_OK)
		{
			*elapsed = 0;
			return measure_failed(m, side, executor, result, "in a run");
		}
		return gpu_block(m, executor, side, slots, n,
						 (m->seeds_runs ? WIRE_FLAG_SEED_RUNS : 0) | (executor->idle ? WIRE_FLAG_IDLE : 0), timeout, elapsed);
	}
	result = executor_command(executor, WIRE_RUN, n, m->seeds_runs ? WIRE_FLAG_SEED_RUNS : 0, 0, timeout, elapsed);
	m->result.clock_seconds += *elapsed;
	return measure_failed(m, side, executor, result, "in a run");
}

/*
 * An executor's first block loads libraries and kernels: what it takes longer than its runs is part of
 * the start.
 */
bool
measure_block(Measure *m, Executor *executor, Side side, const uint32_t *slots, const uint64_t *seeds, uint32_t n, double timeout,
			  double *elapsed)
{
	double		started = clock_now();
	bool		good = block(m, executor, side, slots, seeds, n, timeout, elapsed);

	m->result.spent[SPENT_SETTLE] -= *elapsed;
	measure_spent(m, SPENT_SETTLE, started);
	m->result.spent[executor->met ? SPENT_BLOCK : SPENT_FIRST] += *elapsed;
	if (!executor->met && n > 0)
	{
		executor->met = true;
		m->result.startup_seconds += fmax(*elapsed - n * m->time[side], 0);
	}
	return good;
}

double
measure_run_limit(const Measure *m)
{
	const Profile *p = &m->job->profile;

	return fmin(fmax(p->run_limit_factor * m->time[SIDE_REFERENCE], p->run_limit_min), p->run_limit_max);
}

bool
measure_arena(Measure *m, Arena *arena, uint32_t slots, uint32_t spare)
{
	bool		python = m->job->language == LANGUAGE_PYTORCH;

	if (m->gpu)
	{
		arena_init(arena);
		arena->slots = slots;
		arena->spare = spare;
		arena->input_slot_bytes = m->input_slot_bytes;
		arena->output_slot_bytes = m->output_slot_bytes;
		if (!gpu_arena_create(m, arena))
			return false;
	}
	else if (!arena_create(arena, slots, m->input_slot_bytes, m->output_slot_bytes, python))
		return conclude(m, OUTCOME_LOST, "no memory for %u slots of %zu bytes: %s", slots, m->input_slot_bytes + m->output_slot_bytes,
						strerror(errno));
	if (python)
	{
		ExecutorResult result = EXECUTOR_OK;
		WireOp		op = m->generating ? WIRE_ARENA : WIRE_DESCRIBE;
		double		start = clock_now();

		/* it runs the task's own code, so one will do for a measurement; a new arena is handed to it */
		if (m->generating)
			m->generator.handed = arena->master_fd;
		else
			result = executor_fork(&m->generator, &m->generator_zygote, (int[]) {arena->master_fd, m->source_fd[SIDE_REFERENCE]}, 2,
								   START_SECONDS);
		m->generating = true;
		if (result != EXECUTOR_OK)
			return measure_failed(m, SIDE_REFERENCE, &m->generator, EXECUTOR_BROKEN, "at the start of the generator");
		executor_freeze(&m->generator);
		m->generator.control->slot_bytes = m->input_slot_bytes;
		m->generator.control->gpu_bytes[0] = wire_gpu_bytes((slots + spare) * m->input_slot_bytes);
		m->generator.control->gpu_bytes[1] = 0;
		for (int i = 0; i < m->inputs; i++)
			m->generator.control->offsets[i] = m->input[i].offset;
		random_key(&m->random, &m->generator.secret);
		result = executor_command(&m->generator, op, slots, 0, 0, m->job->profile.build_seconds, NULL);
		measure_spent(m, SPENT_INPUTS, start);
		return measure_failed(m, SIDE_REFERENCE, &m->generator, result, "in get_inputs");
	}
	return true;
}

static bool
build(Measure *m)
{
	bool		python = m->job->language == LANGUAGE_PYTORCH;

	measure_progress(m, "building", 0, 0, NAN, NAN, NAN, NAN, true);
	m->filter_fd = sandbox_guard_filters(python, m->gpu != NULL);
	if (m->filter_fd < 0)
		return conclude(m, OUTCOME_LOST, "the system call filters could not be made");
	if (m->gpu)
		gpu_find_nvcc(m->gpu);
	device_versions(m);
	if (python)
		return build_zygotes(m);
	layout_from_signature(m);
	return build_native(m);
}

/*
 * On a host with few cores a compiler beside a measurement takes memory bandwidth from it: on 2 cores the buckets of a transpose spread
 * three times as widely. There the device is taken before the build, elsewhere after it.
 */
static bool
builds_disturb(const Measure *m)
{
	return !m->gpu && sysconf(_SC_NPROCESSORS_ONLN) < BUILD_APART_CORES;
}

static bool
take(Measure *m)
{
	measure_progress(m, "waiting", 0, 0, NAN, NAN, NAN, NAN, true);
	return device_take(m);
}

void
measure_run(Measure *m)
{
	RandomKey	key;
	double		started;

	m->result.evidence = json_object();
	m->result.environment = json_object();
	m->result.score = m->result.lower = m->result.upper = m->result.half_width = m->result.variance = m->result.audit_bound = NAN;
	m->result.reference_seconds = m->result.candidate_seconds = NAN;
	m->filter_fd = m->source_fd[0] = m->source_fd[1] = -1;
	for (int i = 0; i < 2; i++)
		m->zygote[i].sock = m->zygote[i].log_fd = -1;
	m->generator_zygote.sock = m->generator_zygote.log_fd = -1;
	random_secret_key(&key);
	random_seed(&m->random, &key);
	m->noise = malloc(NOISE_BYTES);
	random_key(&m->random, &key);
	random_fill(m->noise, WIRE_UINT8, NOISE_BYTES, RANDOM_INTEGER, 0, 255, &key);
	if (device_prepare(m) && (!builds_disturb(m) || take(m)))
	{
		started = clock_now();
		build(m);
		m->result.build_seconds = clock_now() - started;
		if (m->result.outcome == OUTCOME_NONE && (builds_disturb(m) || take(m)) && (!m->gpu || gpu_open(m)) && build_on_device(m))
		{
			device_environment(m);
			measure_progress(m, "checking", 0, 0, NAN, NAN, NAN, NAN, true);
			m->checks_began = clock_now();
			if ((m->job->language != LANGUAGE_PYTORCH || layout_from_generator(m)) && checks_run(m))
				rounds_run(m);
		}
	}
	if (m->generating)
		executor_end(&m->generator);
	for (int i = 0; i < 2; i++)
		zygote_end(&m->zygote[i]);
	zygote_end(&m->generator_zygote);
	gpu_close(m);
	build_end(m);
	if (m->locked_at > 0)
		m->result.device_seconds = clock_now() - m->locked_at;
	device_release(m);
	free(m->noise);
	m->result.wall_seconds = clock_now() - m->started;
}
