/*
 * build_interpreter.c
 *		How PyTorch's interpreters are started, and what code makes them compile.
 */
#include "supervisor/build/build.h"

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

/*
 * Prints what an interpreter outside /usr brings along: its environment, what that was made from,
 * and where each symbolic link on the way to it lies. Of a link in a folder that is no bin, which
 * may be somebody's home, that is the link alone. All are named by both names that a folder has.
 */
#define FIND_PLACES \
	"import os, sys\n" \
	"path, found = sys.argv[1], [sys.prefix, sys.base_prefix]\n" \
	"while path:\n" \
	"    folder = os.path.dirname(path)\n" \
	"    found.append(folder if os.path.basename(folder) == \"bin\" else path)\n" \
	"    link = os.path.islink(path)\n" \
	"    path = os.path.join(folder, os.readlink(path)) if link else None\n" \
	"found = [os.path.realpath(x) for x in found] + [x for x in found if \"/../\" not in x]\n" \
	"print(\":\".join(x for x in dict.fromkeys(found)\n" \
	"    if not any(x.startswith(y + \"/\") for y in (*found, \"/usr\")) and x != \"/usr\"))\n"

static void
find_places(Interpreter *i, const char *python)
{
	char		command[2 * PATH_MAX + sizeof(FIND_PLACES) + 32];
	char	   *rest = i->found;
	char	   *at;

	i->places = 0;
	snprintf(command, sizeof(command), "'%s' -I -c '" FIND_PLACES "' '%s' 2>/dev/null", python,
			 python);
	if (!text_first_line(command, i->found, sizeof(i->found)))
		return;
	while (i->places < INTERPRETER_PLACES && (at = strtok_r(rest, ":", &rest)) != NULL)
		i->place[i->places++] = at;
}

unsigned
compiled_kinds(const Measure *m, const char *code)
{
	bool		graphs = strstr(code, "torch.compile") != NULL;
	unsigned	kinds = graphs ? 1u << BUILT_GRAPHS : 0;

	if (text_matches(code, COMPILERS, false))
		kinds |= 1u << BUILT_EXTENSIONS;
	/* what torch.compile makes for a GPU is Triton's */
	if (graphs || strstr(code, "triton"))
		kinds |= 1u << BUILT_TRITON;
	if (m->backend->apart && text_matches(code, COMPILED_KERNELS, false))
		kinds |= 1u << BUILT_KERNELS;
	return kinds;
}

void
interpreter_prepare(Measure *m, Side side, InterpreterUse use, Interpreter *i, Sandbox *sandbox)
{
	bool		all = use == USE_FORKS;
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
	/* forks of one parent are counted together */
	snprintf(i->threads, sizeof(i->threads), "%d", MOST_THREADS * m->nmembers);
	find_places(i, m->options->python);
	m->backend->builds.interpreter(m, i, sandbox, use);
	snprintf(i->path, sizeof(i->path), "%.*s:%s/usr/bin:/bin",
			 slash ? (int) (slash - m->options->python) : 0, m->options->python, i->tools);
	memcpy(i->argv, (const char *[]) {m->options->python, "-I", "-B", i->script, i->cores, i->data,
		m->options->libdir, m->backend->apart ? "cuda" : "cpu", i->threads, NULL},
		   10 * sizeof(char *));
	sandbox_set(sandbox, "PATH", i->path);
	sandbox_set(sandbox, "LANG", "C.UTF-8");
	sandbox_set(sandbox, "HOME", "/");
	/* there is no user database inside */
	sandbox_set(sandbox, "LOGNAME", "candidate");
	sandbox_set(sandbox, "PYTHONDONTWRITEBYTECODE", "1");
	sandbox_set(sandbox, "OMP_NUM_THREADS", i->cores);
	sandbox_set(sandbox, "OPENBLAS_NUM_THREADS", i->cores);
	sandbox_set(sandbox, "MKL_NUM_THREADS", i->cores);
	/* otherwise, memory that was touched once is to stay */
	sandbox_set(sandbox, "MALLOC_MMAP_MAX_", "0");
	sandbox_set(sandbox, "MALLOC_TRIM_THRESHOLD_", "-1");
	sandbox_set(sandbox, "MALLOC_TOP_PAD_", "16777216");
	sandbox_set(sandbox, "MALLOC_ARENA_MAX", "1");
	sandbox->argv = i->argv;
	sandbox->unsandboxed = m->options->unsandboxed;
	sandbox->binds[sandbox->nbinds++] = (SandboxBind) {m->options->libdir, false};
	for (int n = 0; n < i->places; n++)
		sandbox->binds[sandbox->nbinds++] = (SandboxBind) {i->place[n], false};
	/* Code finds later what it writes to /tmp, unless an interpreter or the runner lies there. */
	sandbox->tmp_link = BUILD_INSIDE "/tmp";
	for (int n = 0; n < sandbox->nbinds; n++)
		if (strcmp(sandbox->binds[n].path, "/tmp") == 0
			|| strncmp(sandbox->binds[n].path, "/tmp/", 5) == 0)
			sandbox->tmp_link = NULL;
	if (all && sandboxed)
	{
		sandbox->mount_point = BUILD_INSIDE;
		sandbox_set(sandbox, "CUDAL1_FILES", BUILD_INSIDE);
	}
	if (folder[0])
	{
		if (all && sandboxed)
			sandbox->binds[sandbox->nbinds++] = (SandboxBind) {m->builds.folder, false,
				BUILDS_INSIDE};
		sandbox->binds[sandbox->nbinds++] = (SandboxBind) {folder, !all, BUILD_INSIDE};
		for (int kind = 0; kind < BUILT_KINDS; kind++)
		{
			/* Interpreters also learn by these that Triton or torch.compile will be wanted. */
			if ((kind == BUILT_TRITON || kind == BUILT_GRAPHS) && !(m->builds.kinds & 1u << kind))
				continue;
			snprintf(i->built[kind], sizeof(i->built[kind]), "%s/%s", inside,
					 built_kinds[kind].folder);
			sandbox_set(sandbox, built_kinds[kind].variable, i->built[kind]);
		}
		/* Triton keeps the choices of autotuning with what it compiled. */
		sandbox_set(sandbox, "TRITON_CACHE_AUTOTUNING", "1");
		sandbox_set(sandbox, "TORCHINDUCTOR_COMPILE_THREADS", "1");
	}
}
