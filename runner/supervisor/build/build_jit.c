/*
 * build_jit.c
 *		Builds PyTorch code that compiles itself, in sandboxes.
 *
 * Code that compiles itself runs once, in a sandbox where it may start compilers and write to a
 * folder. Executors find that folder at the same name, each in a mount of its own over which it may
 * write (guard.c). Each side has a folder that its own code alone has made: a process sees no
 * other's.
 *
 * Extensions are compiled before the device is held, several at once, since compilers take long and
 * need no device. Code for a GPU is then loaded without one, as far as it gets. Whatever else code
 * compiles is built with the device, one after the other, because some time what they compile.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "supervisor/build/build.h"

#define BUILD_FAILED	3		/* status of exec_torch.py: a compiler refused the code */

#define READY			4		/* interpreters that are ready, or build */

/*
 * Starts the interpreter of a build, which imports PyTorch and waits. The first that need the
 * device start before it is held, the others while those before them build.
 */
static bool
start_build(Measure *m, Side side, InterpreterUse use)
{
	Built	   *built = &m->code[side]->built;
	Build	   *build = use == USE_AHEAD ? &built->ahead : &built->build;
	Interpreter i;
	Sandbox		sandbox;
	int			pair[2] = {-1, -1};
	bool		good;

	interpreter_prepare(m, side, use, &i, &sandbox);
	i.argv[8] = use == USE_AHEAD ? "ahead" : "build";
	i.argv[9] = NULL;
	sandbox_set(&sandbox, "TMPDIR", "/tmp");
	sandbox_set(&sandbox, "MAX_JOBS", "2");
	sandbox.first = true;
	sandbox.workdir = m->options->unsandboxed ? built->folder : BUILD_INSIDE;
	sandbox.file_bytes = LIBRARY_LIMIT;
	sandbox.fds[sandbox.nfds++] = m->code[side]->source_fd;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return conclude(m, OUTCOME_LOST, "no socket for a build: %s", strerror(errno));
	sandbox.fds[sandbox.nfds++] = pair[1];
	*build = (Build) {.go = pair[0]};
	good = build_start(m, build, &sandbox);
	close(pair[1]);
	return good;
}

/* a build that has ended does not read it; its status is looked at later */
static void
let_build(const Measure *m, Build *build)
{
	send(build->go, "", 1, MSG_NOSIGNAL);
	build->until = clock_now() + m->job->profile.build_seconds;
}

/*
 * Judges a build that came to its end. What fails for another reason than a compiler's fails again,
 * and is judged, in an executor.
 */
static void
judge_build(Measure *m, Side side, const Build *build, int status)
{
	Built	   *built = &m->code[side]->built;
	char		text[1900] = "";

	if (status != 0)
	{
		log_read(build->log, false, text, sizeof(text));
		measure_leave_out(text, m->options->unsandboxed ? built->folder : BUILD_INSIDE);
	}
	/* code may have gone on without what the disk had no room for */
	built->in_part = status != 0 || build_disk_full(m, text);
	if (status != 0 && build_starved(m, built->folder, status, text))
	{
		m->member->killed = true;
		build_refuse(m, side, "compiler", "a process that builds it was killed, perhaps for want "
					 "of memory, or found no room: %s", text);
	}
	else if (WIFEXITED(status) && WEXITSTATUS(status) == BUILD_FAILED)
		build_refuse(m, side, "compiler", "%s", text);
	else if (status != 0)
		fprintf(stderr, "cudal1-measure: code that compiles itself ended early (wait status %d): "
				"%s\n", status, text);
}

/* false: it has a verdict */
static bool
await_build(Measure *m, Side side, Build *build)
{
	Built	   *built = &m->code[side]->built;
	bool		good;

	built->in_part = true;
	if (build->pid > 0 && build->until == 0)
		let_build(m, build);
	good = build_await(m, side, build, judge_build);
	/* code can have closed it to its own executors, whose failure to start would be ours */
	chmod(built->folder, 0700);
	return good;
}

void
build_end(Measure *m)
{
	for (int i = 0; i <= m->nmembers; i++)
	{
		Code	   *code = build_code(m, i);

		build_close(&code->built.ahead);
		build_close(&code->built.build);
		free(code->built.key);
		if (code->source_fd >= 0)
			close(code->source_fd);
	}
}

/* Whether a side's extensions are left to compile. On a CPU the rest of a build may be timed. */
static bool
goes_ahead(Measure *m, int which)
{
	const Code *code = build_code(m, which);
	unsigned	extensions = 1u << BUILT_EXTENSIONS;

	return code->built.key && (m->backend->apart ? code->kinds & extensions
							   : code->kinds == extensions);
}

void
build_start_on_device(Measure *m, int from)
{
	int			left = READY;

	for (int i = from; i <= m->nmembers && left > 0; i++)
	{
		Built	   *built = &build_code(m, i)->built;

		if (!build_enter(m, i) || !built->key || (!m->backend->apart && goes_ahead(m, i)))
			continue;
		left--;
		if (built->build.pid == 0)
			start_build(m, build_side(i), USE_BUILD);
	}
}

void
build_ahead(Measure *m)
{
	int			begun = 0;

	for (int i = 0; i <= m->nmembers && heat_left(m) > 0 && !executor_cancelled; i++)
	{
		Built	   *built = &build_code(m, i)->built;

		for (; begun <= m->nmembers && begun < i + build_at_once(); begun++)
			if (build_enter(m, begun) && goes_ahead(m, begun)
				&& start_build(m, build_side(begun), USE_AHEAD))
				let_build(m, &build_code(m, begun)->built.ahead);
		if (build_enter(m, i) && goes_ahead(m, i)
			&& await_build(m, build_side(i), &built->ahead) && !m->backend->apart)
			build_cache_keep(m, built);
	}
}

/* The reference comes first, because its failure would be all candidates'. */
bool
build_on_device(Measure *m)
{
	for (int i = 0; i <= m->nmembers && heat_left(m) > 0 && !executor_cancelled; i++)
	{
		Built	   *built = &build_code(m, i)->built;
		double		started;

		if (!build_enter(m, i) || !built->key)
		{
			/* This build was started before its candidate had a verdict. */
			build_close(&built->build);
			continue;
		}
		build_start_on_device(m, i);
		if (!build_enter(m, i))
			continue;
		started = clock_now();
		await_build(m, build_side(i), &built->build);
		measure_spent(m, SPENT_BUILD, started);
		build_cache_keep(m, built);
	}
	heat_enter_all(m);
	if (executor_cancelled)
		return conclude(m, OUTCOME_CANCELLED, NULL);
	return heat_left(m) > 0;
}
