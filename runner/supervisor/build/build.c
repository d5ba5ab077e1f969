/*
 * build.c
 *		Compiles both sides in sandboxes, C and CUDA, before the device is taken; and what all
 *		builds share.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/build/build.h"

#define LIBRARY "code.so"
/* bytes that are enough for nearly any library, and for what PyTorch builds */
#define ROOM_LIBRARY 4194304.0
#define ROOM_EXTENSION 67108864.0
#define CORES_A_BUILD 8			/* of the host's: compilers slow what is measured meanwhile */
#define MOST_BUILDS 4			/* at the same time */
#define LOOK_EVERY 0.25			/* seconds, for a signal to stop */

void
build_log(int fd, const char *folder, char *text, size_t size)
{
	log_read(fd, false, text, size);
	measure_leave_out(text, folder);
}

/* A run of a compiler, in a sandbox with a folder of its own. */
typedef struct Compilation
{
	bool		begun;
	Side		side;
	char		folder[PATH_MAX + 16];
	char	   *key;			/* key of the kept result; NULL: it is not kept */
	bool		found;
	int			log;
	pid_t		pid;
	double		until;			/* of clock_now(), when it has to have ended */
} Compilation;

static bool
compile_begin(Measure *m, Side side, Compilation *c)
{
	Compiler	compiler = {.library = LIBRARY};
	char		inside[32];
	char		source_path[PATH_MAX + 32];
	char		probe_path[PATH_MAX + 32];
	static const char *const environment[] = {"PATH", "/usr/bin:/bin", "LANG", "C", "TMPDIR",
		"/tmp", NULL};
	Sandbox		sandbox = {.environment = environment,
		.tmp_bytes = LIBRARY_LIMIT, .file_bytes = LIBRARY_LIMIT,
		.data_bytes = (size_t) 4096 << 20,.cpu_seconds = m->job->profile.build_seconds,
		.unsandboxed = m->options->unsandboxed};

	if (!m->backend->builds.compiler(m, &compiler))
		return false;
	sandbox.argv = compiler.argv;
	/* a source can include what is there */
	sandbox.no_proc = !compiler.reads_proc;
	c->side = side;
	if (side == SIDE_REFERENCE)
		snprintf(c->folder, sizeof(c->folder), "%s/reference", m->scratch);
	else
		snprintf(c->folder, sizeof(c->folder), "%s/candidate-%d", m->scratch, m->member->number);
	snprintf(inside, sizeof(inside), "/code/%s",
			 side == SIDE_REFERENCE ? "reference" : "candidate");
	snprintf(source_path, sizeof(source_path), "%s/%s", c->folder, compiler.source);
	snprintf(probe_path, sizeof(probe_path), "%s/%s", c->folder,
			 compiler.probe ? compiler.probe : "");
	snprintf(m->code[side]->library, sizeof(m->code[side]->library), "%s/" LIBRARY, c->folder);
	c->key = compiler.arch[0] ? build_cache_key(m, compiler.arch, side) : NULL;
	json_object_set_new(m->environment, "flags", json_string(compiler.flags));
	c->found = build_cache_find(m, c->key, c->folder);
	if (c->found)
		return true;
	if (mkdir(c->folder, 0700) != 0
		|| !text_write(source_path, m->code[side]->source)
		|| (compiler.probe && !text_write(probe_path, compiler.probe_text)))
		return conclude(m, OUTCOME_LOST, "can't write to the scratch folder: %s", strerror(errno));
	sandbox.workdir = m->options->unsandboxed ? c->folder : inside;
	sandbox.binds[sandbox.nbinds++] = (SandboxBind) {c->folder, true, inside};
	if (compiler.toolkit)
		sandbox.binds[sandbox.nbinds++] = (SandboxBind) {compiler.toolkit, false};
	sandbox.output_fd = c->log = log_file();
	c->until = clock_now() + m->job->profile.build_seconds;
	c->pid = sandbox_start(&sandbox);
	if (c->pid < 0)
		return conclude(m, OUTCOME_LOST, "the compiler's sandbox does not start: %s",
						strerror(errno));
	return true;
}

void
build_note_kept(Measure *m, Side side)
{
	json_t	   *kept = json_object_get(m->environment, "kept_builds");

	if (!kept)
	{
		kept = json_array();
		json_object_set_new(m->environment, "kept_builds", kept);
	}
	json_array_append_new(kept, json_string(side == SIDE_REFERENCE ? "reference" : "candidate"));
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

bool
build_wait(pid_t pid, double until, int *status)
{
	bool		ended = false;

	do
		ended = sandbox_wait(pid, fmin(LOOK_EVERY, until - clock_now()), status);
	while (!ended && !executor_cancelled && clock_now() < until);
	return ended;
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
compile_end(Measure *m, Compilation *c)
{
	char		text[1900];
	struct stat st;
	int			status;

	if (c->found)
	{
		note_code_key(m->code[c->side]);
		build_note_kept(m, c->side);
		return true;
	}
	if (!build_wait(c->pid, c->until, &status))
		return measure_slow_build(m, c->side);
	c->pid = -1;
	build_log(c->log, c->folder, text, sizeof(text));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && stat(m->code[c->side]->library, &st) == 0
		&& S_ISREG(st.st_mode))
	{
		note_code_key(m->code[c->side]);
		build_cache_keep(m, c->key, c->folder);
		return true;
	}
	m->member->killed = build_starved(m, c->folder, status, text);
	if ((c->side == SIDE_REFERENCE || m->member->killed) && build_without_sandbox(m))
		return false;
	if (c->side == SIDE_REFERENCE)
		return conclude(m, OUTCOME_UNVERIFIED, "the reference does not compile: %s", text);
	measure_cause(m, SIDE_CANDIDATE, "compiler");
	return conclude(m, OUTCOME_COMPILE_ERROR, "%s",
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

/*
 * Some at the same time: a CUDA compiler takes a second or two. A candidate that does not compile
 * leaves its heat.
 */
bool
build_native(Measure *m)
{
	int			n = 1 + m->nmembers;
	int			ahead = build_at_once();	/* a compiler of C or CUDA has one process */
	Compilation *c = measure_zeroed((size_t) n, sizeof(*c));

	for (int i = 0; i < n; i++)
		c[i].pid = c[i].log = -1;
	for (int i = 0; i < n + ahead && heat_left(m) > 0; i++)
	{
		int			done = i - ahead;

		if (i < n && build_enter(m, i))
			c[i].begun = compile_begin(m, i == 0 ? SIDE_REFERENCE : SIDE_CANDIDATE, &c[i]);
		if (done >= 0 && c[done].begun)
		{
			build_enter(m, done);
			compile_end(m, &c[done]);
		}
	}
	for (int i = 0; i < n; i++)
	{
		sandbox_end(c[i].pid);
		free(c[i].key);
		if (c[i].log >= 0)
			close(c[i].log);
	}
	free(c);
	heat_enter_all(m);
	return heat_left(m) > 0;
}
