/*
 * build.c
 *		Compiles both sides in sandboxes, C and CUDA, before the device is taken; and what all
 *		builds share.
 */
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "supervisor/build/build.h"

/* bytes that are enough for nearly any library, and for what PyTorch builds */
#define ROOM_LIBRARY 4194304.0
#define ROOM_EXTENSION 67108864.0
#define CORES_A_BUILD 8			/* of the host's: compilers slow what is measured meanwhile */
#define MOST_BUILDS 4			/* at the same time */
#define LOOK_EVERY 0.25			/* seconds, for a signal to stop */

bool
build_start(Measure *m, Build *build, Sandbox *sandbox)
{
	build->log = sandbox->output_fd = log_file();
	build->pid = sandbox_start(sandbox);
	return build->pid > 0
		|| conclude(m, OUTCOME_LOST, "the compiler's sandbox does not start: %s", strerror(errno));
}

void
build_close(Build *build)
{
	if (build->pid == 0)
		return;
	sandbox_end(build->pid);
	if (build->go >= 0)
		close(build->go);
	close(build->log);
	build->pid = 0;
}

bool
build_refuse(Measure *m, Side side, const char *cause, const char *format,...)
{
	char		text[2100];
	va_list		arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	measure_cause(m, side, cause);
	return conclude(m, outcome_of(side, OUTCOME_COMPILE_ERROR), "%s%s", side == SIDE_REFERENCE
					? "the reference does not compile: " : "", text);
}

bool
build_await(Measure *m, Side side, Build *build, BuildJudge judge)
{
	bool		ended = false;
	int			status;

	/* The sandbox did not start, as was concluded. */
	if (build->pid <= 0)
		return false;
	do
		ended = sandbox_wait(build->pid, fmin(LOOK_EVERY, build->until - clock_now()), &status);
	while (!ended && !executor_cancelled && clock_now() < build->until);
	if (ended)
	{
		build->pid = -1;
		judge(m, side, build, status);
	}
	else if (executor_cancelled)
		conclude(m, OUTCOME_CANCELLED, NULL);
	else
		build_refuse(m, side, "slow_build", "compiling takes more than %g s",
					 m->job->profile.build_seconds);
	build_close(build);
	return m->result->outcome == OUTCOME_NONE;
}

void
build_name(Measure *m, Side side, const char *folder, char *path, size_t size)
{
	if (side == SIDE_REFERENCE)
		snprintf(path, size, "%s/reference", folder);
	else
		snprintf(path, size, "%s/candidate-%d", folder, m->member->number);
}

/* Notes what is loaded. Libraries are linked without symbols, which differ where code does not. */
static void
note_code_key(Code *code)
{
	char		command[sizeof(code->library) + 16];

	snprintf(command, sizeof(command), "sha256sum <'%s'", code->library);
	if (!text_first_line(command, code->code_key, sizeof(code->code_key)))
		code->code_key[0] = '\0';
}

static bool
begin_compiler(Measure *m, Side side)
{
	Code	   *code = m->code[side];
	Build	   *build = &code->built.build;
	const char *folder = code->built.folder;
	Compiler	compiler;
	char		inside[32];
	char		source_path[PATH_MAX + 64];
	char		probe_path[PATH_MAX + 64];
	Sandbox		sandbox = {.tmp_bytes = LIBRARY_LIMIT,.file_bytes = LIBRARY_LIMIT,
		.data_bytes = (size_t) 4096 << 20,.cpu_seconds = m->job->profile.build_seconds,
		.unsandboxed = m->options->unsandboxed};

	if (!m->backend->builds.compiler(m, &compiler, false))
		return false;
	sandbox_set(&sandbox, "PATH", "/usr/bin:/bin");
	sandbox_set(&sandbox, "LANG", "C");
	sandbox_set(&sandbox, "TMPDIR", "/tmp");
	sandbox.argv = compiler.argv;
	/* a source can include what is there */
	sandbox.no_proc = !compiler.reads_proc;
	build_name(m, side, m->scratch, code->built.folder, sizeof(code->built.folder));
	snprintf(inside, sizeof(inside), "/code/%s",
			 side == SIDE_REFERENCE ? "reference" : "candidate");
	snprintf(source_path, sizeof(source_path), "%s/%s", folder, compiler.source);
	snprintf(probe_path, sizeof(probe_path), "%s/%s", folder,
			 compiler.probe ? compiler.probe : "");
	snprintf(code->library, sizeof(code->library), "%s/" COMPILED, folder);
	json_object_set_new(m->environment, "flags", json_string(compiler.flags));
	if (compiler.arch[0] && build_cache_find(m, side, compiler.arch))
	{
		note_code_key(code);
		return true;
	}
	if (mkdir(folder, 0700) != 0
		|| !text_write(source_path, code->source)
		|| (compiler.probe && !text_write(probe_path, compiler.probe_text)))
		return conclude(m, OUTCOME_LOST, "can't write to the scratch folder: %s", strerror(errno));
	sandbox.workdir = m->options->unsandboxed ? folder : inside;
	sandbox.binds[sandbox.nbinds++] = (SandboxBind) {folder, true, inside};
	if (compiler.toolkit)
		sandbox.binds[sandbox.nbinds++] = (SandboxBind) {compiler.toolkit, false};
	*build = (Build) {.go = -1, .until = clock_now() + m->job->profile.build_seconds};
	return build_start(m, build, &sandbox);
}

bool
build_without_sandbox(Measure *m)
{
	const char *problem = m->options->unsandboxed ? NULL : sandbox_problem();

	if (problem)
		conclude(m, OUTCOME_LOST, "%s", problem);
	return problem != NULL;
}

/* Where code has a compiler say that there was no room, there must be less than builds want. */
bool
build_disk_full(const Measure *m, const char *text)
{
	double		wanted = m->backend->module ? ROOM_EXTENSION : ROOM_LIBRARY;
	struct statvfs disk;

	if (statvfs(m->scratch, &disk) != 0)
		return false;
	return disk.f_bavail == 0 || (disk.f_files > 0 && disk.f_favail == 0)
		|| (strstr(text, "No space left on device")
			&& (double) disk.f_bavail * (double) disk.f_frsize < wanted);
}

bool
build_starved(Measure *m, const char *folder, int status, const char *text)
{
	static const char words[] = "Killed signal|terminated with signal 9|died due to signal 9 \\(|"
		": Resource temporarily unavailable|Resource temporarily unavailable:|cannot fork";
	bool		killed = (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		|| (WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGKILL);
	bool		full = build_disk_full(m, text);

	if (full)
		remove_tree(folder);
	if (full && build_disk_full(m, text))
		conclude(m, OUTCOME_LOST, "the scratch folder's disk is full");
	return full || killed || strncmp(text, "bwrap: ", 7) == 0
		|| text_matches(text, words, true);
}

static void
judge_compiler(Measure *m, Side side, const Build *build, int status)
{
	Code	   *code = m->code[side];
	char		text[1900];
	struct stat st;

	if (status == 0 && stat(code->library, &st) == 0 && S_ISREG(st.st_mode))
	{
		note_code_key(code);
		build_cache_keep(m, &code->built);
		return;
	}
	log_read(build->log, false, text, sizeof(text));
	measure_leave_out(text, code->built.folder);
	m->member->killed = build_starved(m, code->built.folder, status, text);
	if ((side == SIDE_CANDIDATE && !m->member->killed) || !build_without_sandbox(m))
		build_refuse(m, side, "compiler", "%s",
					 text[0] ? text : "the compiler failed without a word");
}

bool
build_enter(Measure *m, int which)
{
	if (which == 0)
		heat_enter_all(m);
	else
		heat_enter(m, &m->members[which - 1]);
	return which == 0 || m->members[which - 1].result.outcome == OUTCOME_NONE;
}

int
build_at_once(void)
{
	long		n = sysconf(_SC_NPROCESSORS_ONLN) / CORES_A_BUILD;

	return n < 1 ? 1 : n > MOST_BUILDS ? MOST_BUILDS : (int) n;
}

/* Some at the same time: a CUDA compiler takes seconds. What does not compile leaves its heat. */
bool
build_native(Measure *m)
{
	int			n = 1 + m->nmembers;
	int			ahead = build_at_once();	/* a compiler of C or CUDA has one process */

	for (int i = 0; i < n + ahead && heat_left(m) > 0; i++)
	{
		int			done = i - ahead;

		if (i < n && build_enter(m, i))
			begin_compiler(m, build_side(i));
		if (done >= 0 && build_enter(m, done))
			build_await(m, build_side(done), &m->code[build_side(done)]->built.build,
						judge_compiler);
	}
	heat_enter_all(m);
	return heat_left(m) > 0;
}
