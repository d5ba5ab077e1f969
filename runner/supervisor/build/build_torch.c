/*
 * build_torch.c
 *		Starts the interpreters that both sides will run in, and builds code that compiles itself,
 *		in sandboxes.
 *
 * Code that compiles itself runs once in a sandbox where it may start compilers and write to one
 * folder, which executors then read and cannot write. Each side has a folder of its own, made by
 * its own code. A candidate's build can't reach the reference's folder, because the reference's
 * executor would load what the candidate left there. Executors find all folders of a heat in one
 * that can't be listed. The reference's has a known name there, a candidate's one that follows from
 * its code, and its processes alone are told it: others would have to know that code.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/build/build.h"
#include "supervisor/gpu/cuda.h"
#include "supervisor/heat.h"
#include "supervisor/outcome.h"

#define MOST_THREADS	64		/* of an executor */
/* statuses of exec_torch.py */
#define BUILD_FAILED 3			/* a compiler refused the code */
#define BUILD_NOTHING 4			/* it has compiled nothing, and did not run to its end */
#define BUILDS_INSIDE "/compiled"	/* where code finds the folders of what a heat has compiled */

/*
 * task's source, the candidate's (empty for the reference), and the folder of what it has compiled
 * itself (empty if it has none), each after its length
 */
static int
source_file(const char *reference, const char *code, const char *place)
{
	const char *const parts[] = {reference, code, place};
	char	   *bytes = malloc(12 + strlen(reference) + strlen(code) + strlen(place));
	size_t		total = 0;
	int			fd;

	if (!bytes)
		return -1;
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

static void
python_prefix(const char *python, char *prefix, size_t size)
{
	char		real[PATH_MAX];

	prefix[0] = '\0';
	/*
	 * an interpreter outside /usr brings its first folder along, a virtual environment's base
	 * interpreter included
	 */
	if (strncmp(python, "/usr/", 5) != 0 && python[0] == '/')
	{
		const char *slash = strchr(python + 1, '/');

		snprintf(prefix, size, "%.*s", slash ? (int) (slash - python) : (int) strlen(python),
				 python);
	}
	else if (realpath(python, real) && strncmp(real, "/usr/", 5) != 0)
		python_prefix(real, prefix, size);
}

/*
 * What code compiles of itself: the variable that names its folder, and that folder's place in the
 * side's.
 */
typedef enum BuiltKind
{
	BUILT_EXTENSIONS,
	BUILT_TRITON,
	BUILT_GRAPHS,
	BUILT_KERNELS,
	BUILT_KINDS
} BuiltKind;

static const struct
{
	const char *variable;
	const char *folder;
}			built_kinds[BUILT_KINDS] = {
	[BUILT_EXTENSIONS] = {"TORCH_EXTENSIONS_DIR", "extensions"},
	[BUILT_TRITON] = {"TRITON_CACHE_DIR", "triton"},
	[BUILT_GRAPHS] = {"TORCHINDUCTOR_CACHE_DIR", "inductor"},
	[BUILT_KERNELS] = {"PYTORCH_KERNEL_CACHE_PATH", "kernels"},
};

/* kernels of PyTorch's own that it compiles when a process first uses them, in seconds */
#define COMPILED_KERNELS \
	"jiterator|torch\\.(special\\.|prod|gcd|lcm|lgamma|digamma|polygamma|i0|sinc|exp2|kaiser)|" \
	"\\.prod\\((dim|keepdim|-?[0-9]|\\))|\\.(gcd|lcm|lgamma|digamma|polygamma|i0|sinc|exp2)_?\\("

/* code that may start compilers */
#define COMPILERS "cpp_extension|subprocess|os\\.system"

/* what every interpreter is started with */
typedef struct Interpreter
{
	char		script[PATH_MAX];
	char		cores[16];
	char		data[32];
	char		threads[16];
	char		prefix[PATH_MAX];
	char		path[2 * PATH_MAX];
	char		preload[PATH_MAX];
	char		built[BUILT_KINDS][PATH_MAX + 64];
	char		arch[16];
	const char *argv[10];
	const char *environment[96];
	int			pairs;
} Interpreter;

static void
set_environment(Interpreter *i, const char *name, const char *value)
{
	i->environment[i->pairs++] = name;
	i->environment[i->pairs++] = value;
	i->environment[i->pairs] = NULL;
}

/*
 * jemalloc, where it is installed. glibc's places arrays according to what was allocated before
 * them: two identical modules differed by up to 8 % for as long as their processes' parents lived,
 * since one found its temporary array's memory again in each run and the other didn't.
 */
static bool
find_allocator(char *path, size_t size)
{
	static const char *const patterns[] = {"/usr/lib/*/libjemalloc.so.2",
		"/usr/lib64/libjemalloc.so.2", "/usr/lib/libjemalloc.so.2"};

	path[0] = '\0';
	for (size_t p = 0; p < sizeof(patterns) / sizeof(*patterns) && !path[0]; p++)
	{
		glob_t		found;

		if (glob(patterns[p], 0, NULL, &found) != 0)
			continue;
		if (strlen(found.gl_pathv[0]) < size)
			strcpy(path, found.gl_pathv[0]);
		globfree(&found);
	}
	return path[0] != '\0';
}

static bool
matches(const char *code, const char *expression)
{
	regex_t		pattern;
	bool		found;

	if (regcomp(&pattern, expression, REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	found = regexec(&pattern, code, 0, NULL, 0) == 0;
	regfree(&pattern);
	return found;
}

/* whether a side's code compiles a kind of things when it runs */
static bool
compiles(const Measure *m, Side side, BuiltKind kind)
{
	const char *code = m->code[side]->source;

	switch (kind)
	{
		case BUILT_EXTENSIONS:
			return matches(code, COMPILERS);
		case BUILT_TRITON:
			/* what torch.compile makes for a GPU is Triton's */
			return strstr(code, "triton") || strstr(code, "torch.compile");
		case BUILT_GRAPHS:
			return strstr(code, "torch.compile") != NULL;
		case BUILT_KERNELS:
			return m->gpu && matches(code, COMPILED_KERNELS);
		default:
			return false;
	}
}

/* with compilers alone, before a device is held */
static bool
compiles_early(const Measure *m, Side side)
{
	return compiles(m, side, BUILT_EXTENSIONS) || compiles(m, side, BUILT_TRITON);
}

/* for what it is called with, or for the device it runs on */
static bool
compiles_on_device(const Measure *m, Side side)
{
	return (m->gpu && compiles(m, side, BUILT_TRITON)) || compiles(m, side, BUILT_GRAPHS)
		|| compiles(m, side, BUILT_KERNELS);
}

/* a build that did not come to its extensions, which on a GPU may need the device */
static bool
compiles_in_runs(const Measure *m, Side side)
{
	const Built *built = &m->code[side]->built;
	char		path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", built->folder, built_kinds[BUILT_EXTENSIONS].folder);
	return m->gpu && built->in_part && compiles(m, side, BUILT_EXTENSIONS)
		&& access(path, F_OK) != 0;
}

static bool
compiles_itself(const Measure *m, Side side)
{
	return compiles_early(m, side) || compiles_on_device(m, side);
}

/* what a measurement compiles of this candidate or its reference, as bits */
static unsigned
kinds_of(const Measure *m)
{
	unsigned	kinds = 0;

	for (int kind = 0; kind < BUILT_KINDS; kind++)
		if (compiles(m, SIDE_REFERENCE, kind) || compiles(m, SIDE_CANDIDATE, kind))
			kinds |= 1u << kind;
	return kinds;
}

/* `all`: every folder of the heat, for executors; else that of a side, for its build */
static void
prepare_interpreter(Measure *m, Side side, bool all, Interpreter *i, Sandbox *sandbox)
{
	const char *folder = m->code[side]->built.folder;
	const char *inside = m->code[side]->built.inside;
	const char *slash = strrchr(m->options->python, '/');

	memset(i, 0, sizeof(*i));
	memset(sandbox, 0, sizeof(*sandbox));
	snprintf(i->script, sizeof(i->script), "%s/exec_torch.py", m->options->libdir);
	snprintf(i->cores, sizeof(i->cores), "%d", m->job->cores);
	snprintf(i->data, sizeof(i->data), "%llu",
			 (unsigned long long) m->job->profile.memory_mb << 20);
	/* forks of one parent are counted together */
	snprintf(i->threads, sizeof(i->threads), "%d", MOST_THREADS * m->nmembers);
	python_prefix(m->options->python, i->prefix, sizeof(i->prefix));
	snprintf(i->path, sizeof(i->path), "%.*s:%s%s/usr/bin:/bin",
			 slash ? (int) (slash - m->options->python) : 0, m->options->python,
			 m->gpu && m->gpu->toolkit[0] ? m->gpu->toolkit : "",
			 m->gpu && m->gpu->toolkit[0] ? "/bin:" : "");
	memcpy(i->argv, (const char *[]) {m->options->python, "-I", "-B", i->script, i->cores, i->data,
		m->options->libdir, m->gpu ? "cuda" : "cpu", i->threads, NULL}, 10 * sizeof(char *));
	set_environment(i, "PATH", i->path);
	set_environment(i, "LANG", "C.UTF-8");
	set_environment(i, "HOME", "/");
	/* there is no user database inside */
	set_environment(i, "LOGNAME", "candidate");
	set_environment(i, "PYTHONDONTWRITEBYTECODE", "1");
	set_environment(i, "OMP_NUM_THREADS", i->cores);
	set_environment(i, "OPENBLAS_NUM_THREADS", i->cores);
	set_environment(i, "MKL_NUM_THREADS", i->cores);
	if (!m->gpu && find_allocator(m->allocator, sizeof(m->allocator)))
	{
		set_environment(i, "LD_PRELOAD", m->allocator);
		set_environment(i, "MALLOC_CONF",
						"narenas:1,dirty_decay_ms:-1,muzzy_decay_ms:-1,retain:false,"
						"background_thread:false");
	}
	/* otherwise, memory that was touched once is to stay */
	set_environment(i, "MALLOC_MMAP_MAX_", "0");
	set_environment(i, "MALLOC_TRIM_THRESHOLD_", "-1");
	set_environment(i, "MALLOC_TOP_PAD_", "16777216");
	set_environment(i, "MALLOC_ARENA_MAX", "1");
	sandbox->argv = i->argv;
	sandbox->environment = i->environment;
	sandbox->unsandboxed = m->options->unsandboxed;
	sandbox->binds[sandbox->nbinds++] = (SandboxBind) {m->options->libdir, false};
	if (i->prefix[0])
		sandbox->binds[sandbox->nbinds++] = (SandboxBind) {i->prefix, false};
	if (folder[0])
	{
		sandbox->binds[sandbox->nbinds++] = all && !m->options->unsandboxed
			? (SandboxBind) {m->builds, false, BUILDS_INSIDE}
			: (SandboxBind) {folder, !all, inside};
		for (int kind = 0; kind < BUILT_KINDS; kind++)
		{
			/* by these an interpreter also knows that Triton or torch.compile will be wanted */
			if ((kind == BUILT_TRITON || kind == BUILT_GRAPHS) && !(m->kinds & 1u << kind))
				continue;
			snprintf(i->built[kind], sizeof(i->built[kind]), "%s/%s", inside,
					 built_kinds[kind].folder);
			set_environment(i, built_kinds[kind].variable, i->built[kind]);
		}
		/* what autotuning chose is kept with what it compiled */
		set_environment(i, "TRITON_CACHE_AUTOTUNING", "1");
		set_environment(i, "TORCHINDUCTOR_COMPILE_THREADS", "1");
		if (m->gpu && m->gpu->toolkit[0])
		{
			snprintf(i->arch, sizeof(i->arch), "%d.%d", m->gpu->nvml.major_capability,
					 m->gpu->nvml.minor_capability);
			set_environment(i, "CUDA_HOME", m->gpu->toolkit);
			set_environment(i, "TORCH_CUDA_ARCH_LIST", i->arch);
		}
	}
}

/*
 * A side's code runs once: without the device first, since compilers take long; with it where
 * kernels are compiled for what they are called with, or tuned, or in a run. As many interpreters
 * for that as there are builds at once start before the device is held, import PyTorch, and wait;
 * others start while one before them builds.
 */
static bool
start_build(Measure *m, Side side, bool with_device)
{
	Built	   *built = &m->code[side]->built;
	Interpreter i;
	Sandbox		sandbox;
	char		tmp[PATH_MAX + 64];
	int			pair[2] = {-1, -1};

	prepare_interpreter(m, side, false, &i, &sandbox);
	i.argv[8] = "build";
	i.argv[9] = NULL;
	/*
	 * What code writes there is found there later; an interpreter may lie there, too. It is no bind
	 * mount, because an earlier build can have put a symbolic link in the folder's place, and
	 * bubblewrap would follow it outside.
	 */
	snprintf(tmp, sizeof(tmp), "%s/tmp", built->inside);
	if (strcmp(i.prefix, "/tmp") != 0)
		sandbox.tmp_link = tmp;
	set_environment(&i, "TMPDIR", "/tmp");
	set_environment(&i, "MAX_JOBS", "2");
	if (with_device && m->gpu)
		i.pairs = gpu_sandbox(m, &sandbox, i.environment, i.pairs);
	if (!with_device)
		set_environment(&i, "CUDA_VISIBLE_DEVICES", "");
	sandbox.first = true;
	sandbox.workdir = built->inside;
	sandbox.file_bytes = LIBRARY_LIMIT;
	sandbox.fds[sandbox.nfds++] = m->code[side]->source_fd;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return conclude(m, OUTCOME_LOST, "no socket for a build: %s", strerror(errno));
	sandbox.fds[sandbox.nfds++] = pair[1];
	sandbox.output_fd = log_file();
	built->build[with_device] = (Build) {.pid = sandbox_start(&sandbox), .go = pair[0],
		.log = sandbox.output_fd};
	close(pair[1]);
	return built->build[with_device].pid > 0
		|| conclude(m, OUTCOME_LOST, "the compiler's sandbox does not start: %s", strerror(errno));
}

static void
end_build(Build *build)
{
	if (build->pid == 0)
		return;
	sandbox_end(build->pid);
	close(build->go);
	close(build->log);
	build->pid = 0;
}

/* a build that has ended does not read it; its status is looked at later */
static void
let_build(const Build *build)
{
	send(build->go, "", 1, MSG_NOSIGNAL);
}

/* whether the end of a build tells that a process of it was killed, as for want of memory */
static bool
was_killed(int status, const char *text)
{
	return (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		|| (WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGKILL)
		|| strstr(text, "Killed signal terminated program") != NULL
		|| strstr(text, "terminated with signal 9") != NULL
		|| strstr(text, "died due to signal 9 (") != NULL;
}

/*
 * Builds of a heat share cores, memory and a disk, which is cleared at the heat's end. So a build
 * that these may have failed is made again where its candidate is measured by itself, and if it is
 * the reference's, for each. False: it is by itself.
 */
static bool
builds_by_itself(Measure *m, Side side)
{
	if (m->nmembers == 1)
		return false;
	if (side == SIDE_CANDIDATE)
	{
		m->member->apart = APART_ALONE;
		conclude(m, OUTCOME_LOST, NULL);
		return true;
	}
	for (int i = 0; heat_next(m, &i);)
	{
		m->member->apart = APART_ALONE;
		conclude(m, OUTCOME_LOST, NULL);
	}
	heat_enter_all(m);
	return true;
}

/*
 * what fails here for another reason than a compiler's fails again, and is judged, in an executor
 */
static bool
await_build(Measure *m, Side side, bool with_device)
{
	Built	   *built = &m->code[side]->built;
	Build	   *build = &built->build[with_device];
	Outcome		outcome = outcome_of(side, OUTCOME_COMPILE_ERROR);
	const char *whose = side == SIDE_REFERENCE ? "the reference does not compile: " : "";
	bool		moved = false;
	int			status;

	/* until it has come to its end; with the device it runs once more from its beginning */
	built->in_part = true;
	if (!build_wait(build->pid, m->job->profile.build_seconds, &status))
	{
		if (executor_cancelled)
			conclude(m, OUTCOME_CANCELLED, NULL);
		/* what is built with the device, and the reference, had nothing built beside it */
		else if (with_device || side == SIDE_REFERENCE || !builds_by_itself(m, side))
		{
			measure_cause(m, side, "slow_build");
			conclude(m, outcome, "%scompiling takes more than %g s", whose,
					 m->job->profile.build_seconds);
		}
		else
			moved = true;
	}
	else
	{
		/* code may have gone on without what the disk had no room for */
		bool		full = build_disk_full(m);

		build->pid = -1;
		built->in_part = status != 0 || full;
		if (full)
			moved = builds_by_itself(m, side);
		if (status != 0)
		{
			char		text[1900];

			build_log(build->log, built->inside, text, sizeof(text));
			if (!moved && (was_killed(status, text) || strstr(text, "No space left on device")
						   || strstr(text, "Disk quota exceeded")))
				moved = builds_by_itself(m, side);
			if (!moved && was_killed(status, text))
			{
				m->member->killed = true;
				measure_cause(m, side, "compiler");
				conclude(m, outcome, "%sa process that builds it was killed, perhaps for want of "
						 "memory: %s", whose, text);
			}
			else if (!moved && WIFEXITED(status) && WEXITSTATUS(status) == BUILD_FAILED)
			{
				measure_cause(m, side, "compiler");
				conclude(m, outcome, "%s%s", whose, text);
			}
			else if (!moved && (!WIFEXITED(status) || WEXITSTATUS(status) != BUILD_NOTHING))
				fprintf(stderr, "cudal1-measure: code that compiles itself ended early (wait "
						"status %d): %s\n", status, text);
		}
	}
	end_build(build);
	/* code can have closed it to its own executors, whose failure to start would be ours */
	chmod(built->folder, 0700);
	return !moved && m->result->outcome == OUTCOME_NONE;
}

static void
end_builds(Code *code)
{
	end_build(&code->built.build[0]);
	end_build(&code->built.build[1]);
	free(code->built.key);
	if (code->source_fd >= 0)
		close(code->source_fd);
}

void
build_end(Measure *m)
{
	end_builds(&m->reference);
	for (int i = 0; i < m->nmembers; i++)
		end_builds(&m->members[i].code);
}

/* a side of those that a heat builds: the reference (0), or one candidate's */
static Side
side_of(int which)
{
	return which == 0 ? SIDE_REFERENCE : SIDE_CANDIDATE;
}

/* whether a side is to be built with the device, as far as is known now */
static bool
needs_device(const Measure *m, Side side)
{
	return m->code[side]->built.key
		&& (compiles_on_device(m, side) || compiles_in_runs(m, side));
}

/* from this one on, so many that will need the device import PyTorch */
static void
start_on_device(Measure *m, int from)
{
	int			left = build_at_once();

	for (int i = from; i <= m->nmembers && left > 0; i++)
	{
		Side		side = side_of(i);

		if (!build_enter(m, i) || !needs_device(m, side))
			continue;
		left--;
		if (m->code[side]->built.build[true].pid == 0)
			start_build(m, side, true);
	}
}

static bool
begin_early(Measure *m, int which)
{
	Side		side = side_of(which);

	if (!build_enter(m, which) || !m->code[side]->built.key || !compiles_early(m, side)
		|| !start_build(m, side, false))
		return false;
	let_build(&m->code[side]->built.build[false]);
	return true;
}

/* with compilers alone; some at the same time */
static void
build_early(Measure *m)
{
	int			n = 1 + m->nmembers;
	int			ahead = build_at_once() - 1;
	bool		begun[1 + HEAT_MAX] = {false};

	/* nothing runs beside the reference's, whose failure would be all candidates' */
	if (begin_early(m, 0))
		await_build(m, SIDE_REFERENCE, false);
	for (int i = 1; i < n + ahead && heat_left(m) > 0; i++)
	{
		int			done = i - ahead;

		if (i < n)
			begun[i] = begin_early(m, i);
		if (done >= 1 && begun[done])
		{
			build_enter(m, done);
			await_build(m, SIDE_CANDIDATE, false);
		}
	}
}

/*
 * The last builds, one after the other, because what is tuned is timed. What they and those before
 * them made is kept now.
 */
bool
build_on_device(Measure *m)
{
	for (int i = 0; i <= m->nmembers && heat_left(m) > 0; i++)
	{
		Side		side = side_of(i);
		Built	   *built;
		bool		good = true;

		if (!build_enter(m, i) || !m->code[side]->built.key)
			continue;
		built = &m->code[side]->built;
		if (needs_device(m, side))
		{
			start_on_device(m, i);
			good = build_enter(m, i);
			if (good)
				let_build(&built->build[true]);
			good = good && await_build(m, side, true);
		}
		if (good && !built->in_part)
			build_cache_keep(m, built->key, built->folder);
		free(built->key);
		built->key = NULL;
	}
	heat_enter_all(m);
	return heat_left(m) > 0;
}

/*
 * a folder for what a side compiles, or as it was kept; without a key where nothing is left to
 * build
 */
static bool
prepare_built(Measure *m, Side side)
{
	const char *const folders[] = {built_kinds[BUILT_GRAPHS].folder,
		built_kinds[BUILT_KERNELS].folder, "tmp", "home"};
	Built	   *built = &m->code[side]->built;
	bool		compiling = compiles_itself(m, side);
	char		name[BUILD_NAME] = "reference";
	char		path[PATH_MAX + 64];

	if (compiling)
		built->key = build_cache_key(m, side == SIDE_REFERENCE ? "compiled reference" : "compiled",
									 side);
	if (side == SIDE_CANDIDATE)
		build_cache_name(built->key, name);
	snprintf(built->folder, sizeof(built->folder), "%s/%s", m->builds, name);
	snprintf(built->inside, sizeof(built->inside), "%s/%s",
			 m->options->unsandboxed ? m->builds : BUILDS_INSIDE, name);
	/* a name that an earlier member has: the same code, or one that was made to have its hash */
	if (side == SIDE_CANDIDATE && access(built->folder, F_OK) == 0)
		return !builds_by_itself(m, side);
	if (compiling && build_cache_find(m, built->key, built->folder))
	{
		build_note_kept(m, side);
		free(built->key);
		built->key = NULL;
		return true;
	}
	if (mkdir(built->folder, 0700) != 0)
		return conclude(m, OUTCOME_LOST, "can't write to the scratch folder: %s", strerror(errno));
	/*
	 * PyTorch wants some of these to be there, some versions when they are imported, and executors
	 * can't make them
	 */
	for (int i = 0; i < 4; i++)
	{
		snprintf(path, sizeof(path), "%s/%s", built->folder, folders[i]);
		if (mkdir(path, 0700) != 0)
			return conclude(m, OUTCOME_LOST, "can't write to the scratch folder: %s",
							strerror(errno));
	}
	return true;
}

/* folders for all that compiles itself */
static bool
prepare_builds(Measure *m)
{
	if (!m->kinds)
		return true;
	snprintf(m->builds, sizeof(m->builds), "%s/compiled", m->scratch);
	/* a name in it leads there, and it can't be listed */
	if (mkdir(m->builds, 0700) != 0 || chmod(m->builds, 0311) != 0)
		return conclude(m, OUTCOME_LOST, "can't write to the scratch folder: %s", strerror(errno));
	heat_enter_all(m);
	/* both sides' interpreters are prepared alike, so either has a folder if the other has one */
	if (!prepare_built(m, SIDE_REFERENCE))
		return false;
	for (int i = 0; heat_next(m, &i); i++)
	{
		Built	   *built = &m->member->code.built;

		/*
		 * the task's code is loaded by a candidate's executor as well, which then finds the
		 * reference's, if nothing of its own
		 */
		if (compiles_itself(m, SIDE_CANDIDATE))
			prepare_built(m, SIDE_CANDIDATE);
		else
		{
			strcpy(built->folder, m->reference.built.folder);
			strcpy(built->inside, m->reference.built.inside);
		}
	}
	heat_enter_all(m);
	return heat_left(m) > 0;
}

/*
 * Members of a heat compile the same kinds of things, so that code that compiles nothing has no
 * part in what interpreters are told for others. Others get a heat of each combination. What
 * torch.compile wants to know of a CPU before any fork is a candidate's own, so there that code is
 * measured by itself, and so is all that compiles where no sandbox hides what others have compiled.
 */
static void
set_apart(Measure *m)
{
	unsigned	stay = UINT_MAX;

	for (int i = 0; heat_next(m, &i); i++)
		if (kinds_of(m) < stay)
			stay = kinds_of(m);
	m->kinds = stay == UINT_MAX ? 0 : stay;
	for (int i = 0; m->nmembers > 1 && heat_next(m, &i); i++)
	{
		unsigned	kinds = kinds_of(m);
		bool		alone = kinds && (m->options->unsandboxed
									  || (!m->gpu && kinds & 1u << BUILT_GRAPHS));

		if (kinds == stay && !alone)
			continue;
		m->member->apart = alone ? APART_ALONE : (int) kinds;
		conclude(m, OUTCOME_LOST, NULL);
	}
	heat_enter_all(m);
}

bool
build_zygotes(Measure *m)
{
	char		text[1500] = "";
	Zygote	   *all[] = {&m->zygote[0], &m->zygote[1], &m->generator_zygote};

	set_apart(m);
	if (heat_left(m) == 0 || !prepare_builds(m))
		return false;
	m->reference.source_fd = source_file(m->job->reference, "", "");
	for (int i = 0; i < m->nmembers; i++)
	{
		Code	   *code = &m->members[i].code;

		code->source_fd = source_file(m->job->reference, code->source,
									  strcmp(code->built.inside, m->reference.built.inside) == 0
									  ? "" : code->built.inside);
	}
	for (int i = 0; i < m->nmembers; i++)
		if (m->reference.source_fd < 0 || m->members[i].code.source_fd < 0)
			return conclude(m, OUTCOME_LOST, "no memory for the sources");
	for (int z = 0; z < 3; z++)
	{
		Interpreter i;
		Sandbox		sandbox;

		/*
		 * each seat is taken by both sides in turn; a candidate's fork goes over to its own folder
		 */
		prepare_interpreter(m, SIDE_REFERENCE, true, &i, &sandbox);
		if (!m->gpu && m->kinds & 1u << BUILT_GRAPHS)
			set_environment(&i, "CUDAL1_BUILT", m->code[SIDE_CANDIDATE]->built.inside);
		if (m->gpu)
		{
			i.pairs = gpu_sandbox(m, &sandbox, i.environment, i.pairs);
			/* the memory of PyTorch's allocator comes through it */
			snprintf(i.preload, sizeof(i.preload), "%s/libcudal1pool.so", m->options->libdir);
			set_environment(&i, "LD_PRELOAD", i.preload);
		}
		sandbox.file_bytes = (size_t) 16 << 20;
		sandbox.first = true;
		/* all three import at the same time; who waits for whom comes below */
		if (zygote_start(all[z], &sandbox, m->filter_fd) != EXECUTOR_OK)
			return conclude(m, OUTCOME_LOST, "an interpreter's sandbox does not start: %s",
							strerror(errno));
	}
	if (!m->gpu)
		json_object_set_new(m->environment, "allocator",
							json_string(m->allocator[0] ? m->allocator : "libc"));
	start_on_device(m, 0);
	build_early(m);
	start_on_device(m, 0);
	heat_enter_all(m);
	if (heat_left(m) == 0)
		return false;
	for (int i = 0; i < 3; i++)
	{
		ExecutorResult result = zygote_ready(all[i], m->job->profile.build_seconds, text,
											 sizeof(text));

		if (result != EXECUTOR_OK)
			return !build_without_sandbox(m)
				&& conclude(m, OUTCOME_LOST, "the interpreter %s can't import PyTorch%s%s",
							m->options->python, text[0] ? ": " : "", text);
	}
	return true;
}
