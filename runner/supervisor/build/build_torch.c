/*
 * build_torch.c
 *		Starts PyTorch's interpreters, in which both sides will run, and has code built that
 *		compiles itself.
 */
#include <sys/stat.h>

#include "supervisor/build/build.h"

#define PARSE_SECONDS	10.0

/*
 * Makes a file of the task's source, the candidate's (empty for the reference), and the folder of
 * what has been compiled (empty if nothing is), each after its length.
 */
static int
source_file(const char *reference, const char *code, const char *place)
{
	const char *const parts[] = {reference, code, place};
	char	   *bytes = measure_zeroed(1, 12 + strlen(reference) + strlen(code) + strlen(place));
	size_t		total = 0;
	int			fd;

	for (int i = 0; i < 3; i++)
	{
		uint32_t	length = (uint32_t) strlen(parts[i]);

		memcpy(bytes + total, &length, 4);
		memcpy(bytes + total + 4, parts[i], length);
		total += 4 + length;
	}
	fd = memory_file("source", bytes, total);
	free(bytes);
	return fd;
}

/* Makes a folder for what a side compiles, or takes the kept one. */
static bool
prepare_built(Measure *m, Side side)
{
	/* PyTorch wants some of these, some versions at their import; executors can't make them */
	const char *const folders[] = {"", built_kinds[BUILT_GRAPHS].folder,
		built_kinds[BUILT_KERNELS].folder, "tmp", "home"};
	Built	   *built = &m->code[side]->built;
	bool		compiling = m->code[side]->kinds != 0;
	char		path[PATH_MAX + 64];

	build_name(m, side, m->builds.folder, built->folder, sizeof(built->folder));
	if (compiling && build_cache_find(m, side, side == SIDE_REFERENCE ? "compiled reference"
									  : "compiled"))
		return true;
	for (int i = 0; i < 5; i++)
	{
		snprintf(path, sizeof(path), "%s/%s", built->folder, folders[i]);
		if (mkdir(path, 0700) != 0)
			return conclude(m, OUTCOME_LOST, "can't write to the scratch folder: %s",
							strerror(errno));
	}
	return true;
}

static bool
prepare_builds(Measure *m)
{
	for (int i = 0; i <= m->nmembers; i++)
	{
		Code	   *code = build_code(m, i);

		code->kinds = compiled_kinds(m, code->source);
		m->builds.kinds |= code->kinds;
	}
	if (!m->builds.kinds)
		return true;
	snprintf(m->builds.folder, sizeof(m->builds.folder), "%s/compiled", m->scratch);
	if (mkdir(m->builds.folder, 0700) != 0)
		return conclude(m, OUTCOME_LOST, "can't write to the scratch folder: %s", strerror(errno));
	heat_enter_all(m);
	/* Prepare both sides' interpreters alike: either has a folder if the other has one. */
	if (!prepare_built(m, SIDE_REFERENCE))
		return false;
	for (int i = 0; heat_next(m, &i); i++)
	{
		/*
		 * the task's code is loaded by a candidate's executor as well, which then finds the
		 * reference's, if nothing of its own
		 */
		if (m->member->code.kinds)
			prepare_built(m, SIDE_CANDIDATE);
		else
			strcpy(m->member->code.built.folder, m->reference.built.folder);
	}
	heat_enter_all(m);
	return heat_left(m) > 0;
}

/*
 * Refuses candidates that are no Python, before a device is held; models write these often. What is
 * Python has a hash of its syntax tree. A fork of the interpreter reads the text and runs nothing
 * of it. What it says nothing of is judged where it is loaded.
 */
static void
parse(Measure *m)
{
	Executor	all[HEAT_MAX];
	Executor   *begun[HEAT_MAX];
	int			n = 0;

	for (int i = 0; i < m->nmembers; i++)
		executor_init(&all[i]);
	for (int i = 0; heat_next(m, &i); i++)
	{
		int			source = m->member->code.source_fd;

		if (executor_fork(&all[i], &m->live.zygote[0], (int[]) {source, source}, 2,
						  PARSE_SECONDS)
			&& executor_begin(&all[i], WIRE_PARSE, 0, 0, 0, PARSE_SECONDS) == EXECUTOR_OK)
			begun[n++] = &all[i];
	}
	executor_await(begun, n);
	for (int i = 0; i < m->nmembers; i++)
	{
		heat_enter(m, &m->members[i]);
		/* no code of a candidate has run in this process, so that none has written it */
		if (all[i].last.result == EXECUTOR_OK && all[i].control)
			snprintf(m->member->code.code_key, sizeof(m->member->code.code_key), "%.64s",
					 all[i].control->text);
		if (all[i].last.result == EXECUTOR_FAILED)
			measure_failed(m, SIDE_CANDIDATE, &all[i], all[i].last.result, "while it was loaded");
		executor_end(&all[i]);
	}
}

bool
build_zygotes(Measure *m)
{
	char		text[1500] = "";

	if (!prepare_builds(m))
		return false;
	for (int i = 0; i <= m->nmembers; i++)
	{
		Code	   *code = build_code(m, i);
		const char *folder = strrchr(code->built.folder, '/');
		char		place[PATH_MAX + 32];

		snprintf(place, sizeof(place), "%s%s", !folder ? "" : m->options->unsandboxed
				 ? m->builds.folder : BUILDS_INSIDE, folder ? folder : "");
		code->source_fd = source_file(m->job->reference, i == 0 ? "" : code->source, place);
		if (code->source_fd < 0)
			return conclude(m, OUTCOME_LOST, "no memory for the sources");
	}
	for (int z = 0; z < ZYGOTES; z++)
	{
		Interpreter i;
		Sandbox		sandbox;

		/* each seat is taken by both sides in turn; a fork goes over to its own folder */
		interpreter_prepare(m, SIDE_REFERENCE, USE_FORKS, &i, &sandbox);
		sandbox.file_bytes = (size_t) 16 << 20;
		sandbox.first = true;
		/* all three import at the same time; who waits for whom comes below */
		if (!executor_start(&m->live.zygote[z], &sandbox, &m->live.filter_fd, 1))
			return conclude(m, OUTCOME_LOST, "an interpreter's sandbox does not start: %s",
							strerror(errno));
	}
	build_start_on_device(m, 0);
	build_ahead(m);
	heat_enter_all(m);
	if (heat_left(m) == 0)
		return false;
	for (int i = 0; i < ZYGOTES; i++)
	{
		Executor   *zygote = &m->live.zygote[i];

		if (executor_ready(zygote, m->job->profile.build_seconds))
			continue;
		executor_find_end(zygote);
		/* a traceback names its error last */
		log_read(zygote->log_fd, true, text, sizeof(text));
		return !build_without_sandbox(m)
			&& conclude(m, OUTCOME_LOST, "the interpreter %s can't import PyTorch%s%s",
						m->options->python, text[0] ? ": " : "", text);
	}
	parse(m);
	heat_enter_all(m);
	return heat_left(m) > 0;
}
