/*
 * build.c
 *		Compiles both sides, or starts the interpreters they will run in, in sandboxes, before the device is taken.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "cuda.h"
#include "measure.h"

#define LIBRARY_LIMIT ((size_t) 256 << 20)
#define BUILD_FAILED 3			/* exec_torch.py's status: a compiler refused the code */
#define C_FLAGS "-O3 -march=native -shared -fPIC -std=gnu17"

/* goes into a library of CUDA code: its runtime is its own, and so is that runtime's last error */
#define CUDA_PROBE \
	"extern \"C\" int cudaGetLastError(void);\n" \
	"extern \"C\" const char *cudaGetErrorString(int);\n" \
	"extern \"C\" const char *cudal1_last_error(void) { int e = cudaGetLastError(); return e ? cudaGetErrorString(e) : 0; }\n"

static bool
write_file(const char *path, const char *text)
{
	int			fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t		length = strlen(text);
	bool		good = fd >= 0 && write(fd, text, length) == (ssize_t) length;

	if (fd >= 0)
		good = close(fd) == 0 && good;
	return good;
}

/* the compiler's words without the names of our folders */
static void
compiler_log(int fd, const char *folder, char *text, size_t size)
{
	char		raw[8192];
	ssize_t		n = pread(fd, raw, sizeof(raw) - 1, 0);
	size_t		length = strlen(folder);
	char	   *at;

	raw[n > 0 ? n : 0] = '\0';
	while ((at = strstr(raw, folder)) != NULL)
	{
		size_t		skip = length + (at[length] == '/');

		memmove(at, at + skip, strlen(at + skip) + 1);
	}
	clean_text(text, size, raw, strlen(raw));
}

/* one run of a compiler, in a sandbox with a folder of its own */
typedef struct Compilation
{
	Side		side;
	char		folder[PATH_MAX + 16];
	char	   *key;			/* cuda: what the result is kept under */
	bool		found;
	int			log;
	pid_t		pid;
	double		deadline;
} Compilation;

static bool
compile_begin(Measure *m, Side side, Compilation *c)
{
	bool		cuda = m->job->language == LANGUAGE_CUDA;
	char		source[PATH_MAX + 32];
	char		probe[PATH_MAX + 32];
	char		arch[32] = "";
	const char *gcc[] = {"/usr/bin/gcc", "-O3", "-march=native", "-shared", "-fPIC", "-std=gnu17", "-fdiagnostics-color=never", "-w",
		"-o", m->library[side], source, "-lm", NULL};
	const char *nvcc[] = {cuda ? m->gpu->nvcc : "", "-O3", arch, "-shared", "-Xcompiler", "-fPIC,-fdiagnostics-color=never", "-w",
		"-o", m->library[side], source, probe, "-lm", NULL};
	static const char *const environment[] = {"PATH", "/usr/bin:/bin", "LANG", "C", "TMPDIR", "/tmp", NULL};
	Sandbox		sandbox = {.argv = cuda ? nvcc : gcc,.environment = environment,.tmp_bytes = LIBRARY_LIMIT,.file_bytes = LIBRARY_LIMIT,
		.data_bytes = (size_t) 4096 << 20,.cpu_seconds = m->job->profile.build_seconds,
		/* a source can include what is there */
		.no_proc = !cuda,.unsandboxed = m->options->unsandboxed};

	c->side = side;
	snprintf(c->folder, sizeof(c->folder), "%s/%s", m->scratch, side == SIDE_REFERENCE ? "reference" : "candidate");
	snprintf(source, sizeof(source), "%s/code.%s", c->folder, cuda ? "cu" : "c");
	snprintf(probe, sizeof(probe), "%s/errors.cpp", c->folder);
	snprintf(m->library[side], sizeof(m->library[side]), "%s/code.so", c->folder);
	if (cuda)
	{
		snprintf(arch, sizeof(arch), "-arch=sm_%d%d", m->gpu->nvml.major_capability, m->gpu->nvml.minor_capability);
		c->key = build_cache_key(m, arch, side);
	}
	json_object_set_new(m->result.environment, "flags", cuda ? json_sprintf("-O3 %s", arch) : json_string(C_FLAGS));
	c->found = build_cache_find(m, c->key, c->folder);
	if (c->found)
		return true;
	if (mkdir(c->folder, 0700) != 0 || !write_file(source, side == SIDE_REFERENCE ? m->job->reference : m->job->code)
		|| (cuda && !write_file(probe, CUDA_PROBE)))
		return conclude(m, OUTCOME_LOST, "can't write to the scratch folder: %s", strerror(errno));
	sandbox.workdir = c->folder;
	sandbox.binds[sandbox.nbinds++] = (SandboxBind) {c->folder, true};
	if (cuda)
	{
		if (strncmp(m->gpu->toolkit, "/usr/", 5) != 0)
			sandbox.binds[sandbox.nbinds++] = (SandboxBind) {m->gpu->toolkit, false};
	}
	sandbox.output_fd = c->log = log_file();
	c->pid = sandbox_start(&sandbox);
	c->deadline = clock_now() + m->job->profile.build_seconds;
	if (c->pid < 0)
		return conclude(m, OUTCOME_LOST, "the compiler's sandbox does not start: %s", strerror(errno));
	return true;
}

static void
note_kept(Measure *m, Side side)
{
	json_t	   *kept = json_object_get(m->result.environment, "kept_builds");

	if (!kept)
	{
		kept = json_array();
		json_object_set_new(m->result.environment, "kept_builds", kept);
	}
	json_array_append_new(kept, json_string(side == SIDE_REFERENCE ? "reference" : "candidate"));
}

/* where no sandbox starts, that is what failed, whoever else seems to have */
static bool
without_sandbox(Measure *m)
{
	const char *problem = m->options->unsandboxed ? NULL : sandbox_problem();

	if (problem)
		conclude(m, OUTCOME_LOST, "%s", problem);
	return problem != NULL;
}

static bool
compile_end(Measure *m, Compilation *c)
{
	char		text[1900];
	struct stat st;
	struct statvfs disk;
	int			status;

	if (c->found)
	{
		note_kept(m, c->side);
		return true;
	}
	if (!sandbox_wait(c->pid, c->deadline - clock_now(), &status))
		return conclude(m, c->side == SIDE_CANDIDATE ? OUTCOME_COMPILE_ERROR : OUTCOME_UNVERIFIED, "compiling takes more than %g s",
						m->job->profile.build_seconds);
	c->pid = -1;
	compiler_log(c->log, c->folder, text, sizeof(text));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && stat(m->library[c->side], &st) == 0 && S_ISREG(st.st_mode))
	{
		build_cache_keep(m, c->key, c->folder);
		return true;
	}
	if (c->side == SIDE_REFERENCE)
		return !without_sandbox(m) && conclude(m, OUTCOME_UNVERIFIED, "the reference does not compile: %s", text);
	/* what the compiler wrote is gone by now: a disk that is still full was filled by others */
	if (statvfs(m->scratch, &disk) == 0 && (disk.f_bavail == 0 || (disk.f_files > 0 && disk.f_favail == 0)))
		return conclude(m, OUTCOME_LOST, "the scratch folder's disk is full");
	/* a compiler that refuses a code says why, and of a part of it that was killed, that it was */
	m->killed = text[0] == '\0' || strncmp(text, "gcc: fatal error: Killed signal", 31) == 0
		|| strncmp(text, "collect2: fatal error: ld terminated with signal 9", 50) == 0 || strstr(text, "died due to signal 9 (") != NULL;
	return conclude(m, OUTCOME_COMPILE_ERROR, "%s", text[0] ? text : "the compiler failed without a word");
}

/* both sides at the same time: a CUDA compiler takes a second or two */
bool
build_native(Measure *m)
{
	Compilation c[2] = {{.pid = -1,.log = -1}, {.pid = -1,.log = -1}};
	bool		good;

	if (m->job->language == LANGUAGE_CUDA && !m->gpu->nvcc[0])
		return conclude(m, OUTCOME_LOST, "no nvcc; install the CUDA toolkit in /usr/local/cuda, or put nvcc on the PATH");
	good = compile_begin(m, SIDE_REFERENCE, &c[0]) && compile_begin(m, SIDE_CANDIDATE, &c[1])
		&& compile_end(m, &c[0]) && compile_end(m, &c[1]);
	for (int i = 0; i < 2; i++)
	{
		sandbox_end(c[i].pid);
		free(c[i].key);
		if (c[i].log >= 0)
			close(c[i].log);
	}
	return good;
}

/* task's source, then the candidate's (empty for the reference), each after its length */
static int
source_file(const char *reference, const char *code)
{
	uint32_t	length[2] = {(uint32_t) strlen(reference), (uint32_t) strlen(code)};
	size_t		total = 8 + (size_t) length[0] + length[1];
	char	   *bytes = malloc(total);
	int			fd;

	if (!bytes)
		return -1;
	memcpy(bytes, &length[0], 4);
	memcpy(bytes + 4, reference, length[0]);
	memcpy(bytes + 4 + length[0], &length[1], 4);
	memcpy(bytes + 8 + length[0], code, length[1]);
	fd = memory_file("source", bytes, total);
	free(bytes);
	return fd;
}

static void
python_prefix(const char *python, char *prefix, size_t size)
{
	char		real[PATH_MAX];

	prefix[0] = '\0';
	/* an interpreter outside /usr brings its first folder along, a virtual environment's base interpreter included */
	if (strncmp(python, "/usr/", 5) != 0 && python[0] == '/')
	{
		const char *slash = strchr(python + 1, '/');

		snprintf(prefix, size, "%.*s", slash ? (int) (slash - python) : (int) strlen(python), python);
	}
	else if (realpath(python, real) && strncmp(real, "/usr/", 5) != 0)
		python_prefix(real, prefix, size);
}

/* what every interpreter is started with */
typedef struct Interpreter
{
	char		script[PATH_MAX];
	char		cores[16];
	char		data[32];
	char		prefix[PATH_MAX];
	char		path[2 * PATH_MAX];
	char		preload[PATH_MAX];
	char		extensions[PATH_MAX + 32];
	char		triton[PATH_MAX + 32];
	char		inductor[PATH_MAX + 32];
	char		arch[16];
	const char *argv[10];
	const char *environment[64];
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
 * jemalloc, where it is installed. glibc's places arrays according to what was allocated before them: two identical modules differed by up
 * to 8 % for as long as their processes' parents lived, since one found its temporary array's memory again in each run and the
 * other didn't.
 */
static bool
find_allocator(char *path, size_t size)
{
	static const char *const patterns[] = {"/usr/lib/*/libjemalloc.so.2", "/usr/lib64/libjemalloc.so.2", "/usr/lib/libjemalloc.so.2"};

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
compiles_graphs(const char *code)
{
	return strstr(code, "torch.compile") != NULL;
}

static void
prepare_interpreter(Measure *m, Interpreter *i, Sandbox *sandbox)
{
	const char *slash = strrchr(m->options->python, '/');

	memset(i, 0, sizeof(*i));
	memset(sandbox, 0, sizeof(*sandbox));
	snprintf(i->script, sizeof(i->script), "%s/exec_torch.py", m->options->libdir);
	snprintf(i->cores, sizeof(i->cores), "%d", m->job->cores);
	snprintf(i->data, sizeof(i->data), "%llu", (unsigned long long) m->job->profile.memory_mb << 20);
	python_prefix(m->options->python, i->prefix, sizeof(i->prefix));
	snprintf(i->path, sizeof(i->path), "%.*s:%s%s/usr/bin:/bin", slash ? (int) (slash - m->options->python) : 0, m->options->python,
			 m->gpu && m->gpu->toolkit[0] ? m->gpu->toolkit : "", m->gpu && m->gpu->toolkit[0] ? "/bin:" : "");
	memcpy(i->argv, (const char *[]) {m->options->python, "-I", "-B", i->script, i->cores, i->data, m->options->libdir, m->gpu ? "cuda" : "cpu",
		   NULL}, 9 * sizeof(char *));
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
		set_environment(i, "MALLOC_CONF", "narenas:1,dirty_decay_ms:-1,muzzy_decay_ms:-1,retain:false,background_thread:false");
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
	if (m->compiled[0])
	{
		sandbox->binds[sandbox->nbinds++] = (SandboxBind) {m->compiled, false};
		snprintf(i->extensions, sizeof(i->extensions), "%s/extensions", m->compiled);
		snprintf(i->triton, sizeof(i->triton), "%s/triton", m->compiled);
		snprintf(i->inductor, sizeof(i->inductor), "%s/inductor", m->compiled);
		set_environment(i, "TORCH_EXTENSIONS_DIR", i->extensions);
		set_environment(i, "TRITON_CACHE_DIR", i->triton);
		/* by which an interpreter also knows that it will be wanted */
		if (compiles_graphs(m->job->code))
			set_environment(i, "TORCHINDUCTOR_CACHE_DIR", i->inductor);
		/* what autotuning chose is kept with what it compiled */
		set_environment(i, "TRITON_CACHE_AUTOTUNING", "1");
		set_environment(i, "TORCHINDUCTOR_COMPILE_THREADS", "1");
		if (m->gpu && m->gpu->toolkit[0])
		{
			snprintf(i->arch, sizeof(i->arch), "%d.%d", m->gpu->nvml.major_capability, m->gpu->nvml.minor_capability);
			set_environment(i, "CUDA_HOME", m->gpu->toolkit);
			set_environment(i, "TORCH_CUDA_ARCH_LIST", i->arch);
		}
	}
}

/* whether code compiles parts of itself when it runs */
static bool
compiles_itself(const char *code)
{
	return strstr(code, "cpp_extension") || strstr(code, "triton") || compiles_graphs(code);
}

/*
 * Code that compiles itself does so here: the candidate runs once in a sandbox where it may start compilers and write to one folder,
 * which executors then read and cannot write. Without the device first, since compilers take long; with it where kernels are
 * compiled for what they are called with, or tuned. What fails here for another reason fails again, and is judged, in an executor.
 */
static bool
build_compiled(Measure *m, bool with_device)
{
	Interpreter i;
	Sandbox		sandbox;
	pid_t		pid;
	int			status;

	prepare_interpreter(m, &i, &sandbox);
	i.argv[8] = "build";
	i.argv[9] = NULL;
	for (int b = 0; b < sandbox.nbinds; b++)
		if (sandbox.binds[b].path == m->compiled)
			sandbox.binds[b].writable = true;
	set_environment(&i, "TMPDIR", "/tmp");
	set_environment(&i, "MAX_JOBS", "2");
	if (with_device && m->gpu)
		i.pairs = gpu_sandbox(m->gpu, &sandbox, i.environment, i.pairs);
	if (!with_device)
		set_environment(&i, "CUDA_VISIBLE_DEVICES", "");
	sandbox.first = true;
	sandbox.workdir = m->compiled;
	sandbox.tmp_bytes = 4 * LIBRARY_LIMIT;
	sandbox.file_bytes = LIBRARY_LIMIT;
	sandbox.fds[sandbox.nfds++] = m->source_fd[SIDE_CANDIDATE];
	sandbox.output_fd = log_file();
	pid = sandbox_start(&sandbox);
	if (pid < 0)
	{
		close(sandbox.output_fd);
		return conclude(m, OUTCOME_LOST, "the compiler's sandbox does not start: %s", strerror(errno));
	}
	if (!sandbox_wait(pid, m->job->profile.build_seconds, &status))
	{
		sandbox_end(pid);
		conclude(m, OUTCOME_COMPILE_ERROR, "compiling takes more than %g s", m->job->profile.build_seconds);
	}
	else if (WIFEXITED(status) && WEXITSTATUS(status) == BUILD_FAILED)
	{
		char		text[1900];

		compiler_log(sandbox.output_fd, m->compiled, text, sizeof(text));
		conclude(m, OUTCOME_COMPILE_ERROR, "%s", text);
	}
	else if (status != 0)
	{
		char		text[1900];

		m->compiled_in_part = true;
		compiler_log(sandbox.output_fd, m->compiled, text, sizeof(text));
		fprintf(stderr, "cudal1-measure: code that compiles itself ended early (wait status %d): %s\n", status, text);
	}
	close(sandbox.output_fd);
	return m->result.outcome == OUTCOME_NONE;
}

/* the last build: what all of them made is kept now */
bool
build_on_device(Measure *m)
{
	bool		good = true;

	if (!m->compiled_key)
		return true;
	if ((m->gpu && strstr(m->job->code, "triton")) || compiles_graphs(m->job->code))
		good = build_compiled(m, true);
	if (good && !m->compiled_in_part)
		build_cache_keep(m, m->compiled_key, m->compiled);
	free(m->compiled_key);
	m->compiled_key = NULL;
	return good;
}

/* torch.compile, imported by an interpreter while the code is built, wants this folder to be there, and cannot make it */
static bool
make_inductor(Measure *m)
{
	char		folder[PATH_MAX + 32];

	snprintf(folder, sizeof(folder), "%s/inductor", m->compiled);
	return !compiles_graphs(m->job->code) || mkdir(folder, 0700) == 0;
}

bool
build_zygotes(Measure *m)
{
	char		text[1500] = "";
	Zygote	   *all[] = {&m->zygote[0], &m->zygote[1], &m->generator_zygote};

	m->source_fd[SIDE_REFERENCE] = source_file(m->job->reference, "");
	m->source_fd[SIDE_CANDIDATE] = source_file(m->job->reference, m->job->code);
	if (m->source_fd[0] < 0 || m->source_fd[1] < 0)
		return conclude(m, OUTCOME_LOST, "no memory for the sources");
	if (compiles_itself(m->job->code))
	{
		snprintf(m->compiled, sizeof(m->compiled), "%s/compiled", m->scratch);
		m->compiled_key = build_cache_key(m, "compiled", SIDE_CANDIDATE);
		if (build_cache_find(m, m->compiled_key, m->compiled))
		{
			note_kept(m, SIDE_CANDIDATE);
			free(m->compiled_key);
			m->compiled_key = NULL;
		}
		else if (mkdir(m->compiled, 0700) != 0 || !make_inductor(m))
			return conclude(m, OUTCOME_LOST, "can't write to the scratch folder: %s", strerror(errno));
	}
	for (int z = 0; z < 3; z++)
	{
		Interpreter i;
		Sandbox		sandbox;

		prepare_interpreter(m, &i, &sandbox);
		if (m->gpu)
		{
			i.pairs = gpu_sandbox(m->gpu, &sandbox, i.environment, i.pairs);
			/* the memory of PyTorch's allocator comes through it */
			snprintf(i.preload, sizeof(i.preload), "%s/libcudal1pool.so", m->options->libdir);
			set_environment(&i, "LD_PRELOAD", i.preload);
		}
		sandbox.file_bytes = (size_t) 16 << 20;
		sandbox.first = true;
		/* all three import at the same time; who waits for whom comes below */
		if (zygote_start(all[z], &sandbox, m->filter_fd) != EXECUTOR_OK)
			return conclude(m, OUTCOME_LOST, "an interpreter's sandbox does not start: %s", strerror(errno));
	}
	if (!m->gpu)
		json_object_set_new(m->result.environment, "allocator", json_string(m->allocator[0] ? m->allocator : "libc"));
	if (m->compiled_key && !build_compiled(m, false))
		return false;
	for (int i = 0; i < 3; i++)
	{
		ExecutorResult result = zygote_ready(all[i], m->job->profile.build_seconds, text, sizeof(text));

		if (result != EXECUTOR_OK)
			return !without_sandbox(m)
				&& conclude(m, OUTCOME_LOST, "the interpreter %s can't import PyTorch%s%s", m->options->python, text[0] ? ": " : "", text);
	}
	return true;
}
