/*
 * build_interpreter.c
 *		How PyTorch's interpreters are started, and what code makes them compile.
 */
#define _GNU_SOURCE
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "supervisor/backend.h"
#include "supervisor/build/build_torch.h"

#define MOST_THREADS	64		/* of an executor */

/* kernels of PyTorch's own that it compiles when a process first uses them, in seconds */
#define COMPILED_KERNELS \
	"jiterator|torch\\.(special\\.|prod|gcd|lcm|lgamma|digamma|polygamma|i0|sinc|exp2|kaiser)|" \
	"\\.prod\\((dim|keepdim|-?[0-9]|\\))|\\.(gcd|lcm|lgamma|digamma|polygamma|i0|sinc|exp2)_?\\("

/* code that may start compilers */
#define COMPILERS "cpp_extension|subprocess|os\\.system"

const BuiltPlace built_kinds[BUILT_KINDS] = {
	[BUILT_EXTENSIONS] = {"TORCH_EXTENSIONS_DIR", "extensions"},
	[BUILT_TRITON] = {"TRITON_CACHE_DIR", "triton"},
	[BUILT_GRAPHS] = {"TORCHINDUCTOR_CACHE_DIR", "inductor"},
	[BUILT_KERNELS] = {"PYTORCH_KERNEL_CACHE_PATH", "kernels"},
};

static void
add_place(Interpreter *i, const char *path)
{
	/* Files in /usr are there anyway. */
	if (strcmp(path, "/usr") == 0 || strncmp(path, "/usr/", 5) == 0
		|| i->places == INTERPRETER_PLACES)
		return;
	for (int n = 0; n < i->places; n++)
		if (strcmp(i->place[n], path) == 0)
			return;
	snprintf(i->place[i->places++], PATH_MAX, "%s", path);
}

/* Notes the place of a folder, and the name by which links of folders lead there. */
static void
note_place(Interpreter *i, const char *path)
{
	char		real[PATH_MAX];

	if (!realpath(path, real))
		return;
	add_place(i, real);
	if (strcmp(path, real) != 0 && !strstr(path, "/../") && !strstr(path, "//"))
		add_place(i, path);
}

/* cuts a path's last part off; what it was */
static const char *
go_up(char *path)
{
	char	   *slash = strrchr(path, '/');

	if (!slash)
		return "";
	*slash = '\0';
	return slash + 1;
}

static bool
has(const char *folder, const char *name)
{
	char		path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return access(path, F_OK) == 0;
}

/*
 * An interpreter's environment, the folder above its own. Where that is none, it is the folder
 * alone, or not even that: it may be somebody's home.
 */
static void
note_interpreter(Interpreter *i, const char *path, bool is_link)
{
	char		folder[PATH_MAX];
	char		above[PATH_MAX];
	const char *name;

	snprintf(folder, sizeof(folder), "%s", path);
	go_up(folder);
	snprintf(above, sizeof(above), "%s", folder);
	name = go_up(above);
	if (above[0] && (has(above, "pyvenv.cfg") || (!is_link && has(above, "lib"))))
		note_place(i, above);
	else
		note_place(i, strcmp(name, "bin") == 0 ? folder : path);
}

/* Notes what an environment was made from, by its file pyvenv.cfg. */
static void
note_home(Interpreter *i, const char *python)
{
	char		path[PATH_MAX + 32];
	char		line[PATH_MAX + 16];
	char		home[PATH_MAX];
	FILE	   *file;

	snprintf(path, sizeof(path), "%s", python);
	go_up(path);
	go_up(path);
	snprintf(path + strlen(path), 16, "/pyvenv.cfg");
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "home = %4000[^\n]", home) == 1)
		{
			snprintf(path, sizeof(path), "%s/python3", home);
			note_interpreter(i, path, false);
		}
	if (file)
		fclose(file);
}

/*
 * Notes what an interpreter outside /usr brings along: its environment, and so on along symbolic
 * links to what it was made from. Of a link that belongs to no environment it is the folder alone.
 */
static void
find_places(Interpreter *i, const char *python)
{
	char		path[PATH_MAX];
	char		real[PATH_MAX];

	i->places = 0;
	note_home(i, python);
	snprintf(path, sizeof(path), "%s", python);
	for (int links = 0; links < INTERPRETER_PLACES; links++)
	{
		char		to[PATH_MAX];
		ssize_t		n = readlink(path, to, sizeof(to) - 1);
		size_t		length;

		note_interpreter(i, path, n > 0);
		if (n <= 0)
			break;
		to[n] = '\0';
		if (to[0] != '/')
			go_up(path);
		else
			path[0] = '\0';
		length = strlen(path);
		if ((int) (sizeof(path) - length) <= snprintf(path + length, sizeof(path) - length, "%s%s",
													  to[0] == '/' ? "" : "/", to))
			break;
	}
	if (realpath(python, real))
		note_interpreter(i, real, false);
}

void
interpreter_set(Interpreter *i, const char *name, const char *value)
{
	i->environment[i->pairs++] = name;
	i->environment[i->pairs++] = value;
	i->environment[i->pairs] = NULL;
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

unsigned
compiled_kinds(const Measure *m, const char *code)
{
	bool		graphs = strstr(code, "torch.compile") != NULL;
	unsigned	kinds = graphs ? 1u << BUILT_GRAPHS : 0;

	if (matches(code, COMPILERS))
		kinds |= 1u << BUILT_EXTENSIONS;
	/* what torch.compile makes for a GPU is Triton's */
	if (graphs || strstr(code, "triton"))
		kinds |= 1u << BUILT_TRITON;
	if (m->backend->apart && matches(code, COMPILED_KERNELS))
		kinds |= 1u << BUILT_KERNELS;
	return kinds;
}

void
interpreter_prepare(Measure *m, Side side, bool all, Interpreter *i, Sandbox *sandbox)
{
	bool		sandboxed = !m->options->unsandboxed;
	const char *folder = m->code[side]->built.folder;
	const char *inside = sandboxed ? BUILD_INSIDE : folder;
	const char *slash = strrchr(m->options->python, '/');

	memset(i, 0, sizeof(*i));
	memset(sandbox, 0, sizeof(*sandbox));
	snprintf(i->script, sizeof(i->script), "%s/exec_torch.py", m->options->libdir);
	snprintf(i->cores, sizeof(i->cores), "%d", m->job->cores);
	snprintf(i->data, sizeof(i->data), "%llu",
			 (unsigned long long) m->job->profile.memory_mb << 20);
	/* forks of one parent are counted together, with those that are ending */
	snprintf(i->threads, sizeof(i->threads), "%d",
			 MOST_THREADS * (m->nmembers + m->backend->apart));
	find_places(i, m->options->python);
	m->backend->interpreter(m, i, sandbox, all);
	snprintf(i->path, sizeof(i->path), "%.*s:%s/usr/bin:/bin",
			 slash ? (int) (slash - m->options->python) : 0, m->options->python, i->tools);
	memcpy(i->argv, (const char *[]) {m->options->python, "-I", "-B", i->script, i->cores, i->data,
		m->options->libdir, m->backend->apart ? "cuda" : "cpu", i->threads, NULL},
		   10 * sizeof(char *));
	interpreter_set(i, "PATH", i->path);
	interpreter_set(i, "LANG", "C.UTF-8");
	interpreter_set(i, "HOME", "/");
	/* there is no user database inside */
	interpreter_set(i, "LOGNAME", "candidate");
	interpreter_set(i, "PYTHONDONTWRITEBYTECODE", "1");
	interpreter_set(i, "OMP_NUM_THREADS", i->cores);
	interpreter_set(i, "OPENBLAS_NUM_THREADS", i->cores);
	interpreter_set(i, "MKL_NUM_THREADS", i->cores);
	/* otherwise, memory that was touched once is to stay */
	interpreter_set(i, "MALLOC_MMAP_MAX_", "0");
	interpreter_set(i, "MALLOC_TRIM_THRESHOLD_", "-1");
	interpreter_set(i, "MALLOC_TOP_PAD_", "16777216");
	interpreter_set(i, "MALLOC_ARENA_MAX", "1");
	sandbox->argv = i->argv;
	sandbox->environment = i->environment;
	sandbox->unsandboxed = m->options->unsandboxed;
	sandbox->binds[sandbox->nbinds++] = (SandboxBind) {m->options->libdir, false};
	for (int n = 0; n < i->places; n++)
		sandbox->binds[sandbox->nbinds++] = (SandboxBind) {i->place[n], false};
	/*
	 * Code finds later what it writes to /tmp. But an interpreter or the runner may lie
	 * there, and is found at its name.
	 */
	sandbox->tmp_link = BUILD_INSIDE "/tmp";
	for (int n = 0; n < sandbox->nbinds; n++)
		if (strcmp(sandbox->binds[n].path, "/tmp") == 0
			|| strncmp(sandbox->binds[n].path, "/tmp/", 5) == 0)
			sandbox->tmp_link = NULL;
	if (all && sandboxed)
	{
		sandbox->mount_point = BUILD_INSIDE;
		interpreter_set(i, "CUDAL1_FILES", BUILD_INSIDE);
	}
	if (folder[0])
	{
		if (all && sandboxed)
			sandbox->binds[sandbox->nbinds++] = (SandboxBind) {m->builds, false, BUILDS_INSIDE};
		sandbox->binds[sandbox->nbinds++] = (SandboxBind) {folder, !all, BUILD_INSIDE};
		for (int kind = 0; kind < BUILT_KINDS; kind++)
		{
			/* Interpreters also learn by these that Triton or torch.compile will be wanted. */
			if ((kind == BUILT_TRITON || kind == BUILT_GRAPHS) && !(m->kinds & 1u << kind))
				continue;
			snprintf(i->built[kind], sizeof(i->built[kind]), "%s/%s", inside,
					 built_kinds[kind].folder);
			interpreter_set(i, built_kinds[kind].variable, i->built[kind]);
		}
		/* Triton keeps the choices of autotuning with what it compiled. */
		interpreter_set(i, "TRITON_CACHE_AUTOTUNING", "1");
		interpreter_set(i, "TORCHINDUCTOR_COMPILE_THREADS", "1");
	}
}
