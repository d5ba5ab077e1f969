/*
 * profiler.c
 *		Runs of a code under a profiler, after its measurement.
 *
 * A Python script builds the code and starts the profiler, because neither needs to be fast. The
 * device is held meanwhile, so that no clock runs beside a profiler.
 */
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "supervisor/backend.h"

bool
profiler_fails(const Profiling *run, char *said, size_t size)
{
	Compiler	compiler = {.source = "code.py"};
	json_t	   *command = json_array();
	json_t	   *root = json_pack("{s:O, s:s*, s:s*, s:o}", "task", run->task, "code", run->code,
								 "device", run->device, "command", command);
	char	   *text;
	const char *python = run->options->python;
	char		script[4096];
	int			job;
	int			out = log_file();
	ssize_t		n;
	int			status = -1;
	pid_t		pid;

	/* of the code, as a measurement compiles it, but with the numbers of its lines */
	if (run->code && !run->m->backend->module)
		run->m->backend->builds.compiler(run->m, &compiler, true);
	for (int i = 0; compiler.argv[i]; i++)
		json_array_append_new(command, json_string(compiler.argv[i]));
	json_object_set_new(root, "source", json_string(compiler.source));
	text = json_dumps(root, 0);
	job = memory_file("job", text, strlen(text));
	free(text);
	json_decref(root);
	lseek(job, 0, SEEK_SET);
	snprintf(script, sizeof(script), "%s/profile_code.py", run->options->libdir);
	pid = fork();
	if (pid == 0)
	{
		if (dup2(job, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0
			|| dup2(out, STDERR_FILENO) < 0)
			_exit(126);
		if (run->cores)
			sched_setaffinity(0, sizeof(*run->cores), run->cores);
		if (run->scratch)
			setenv("TMPDIR", run->scratch, 1);
		execl(python, python, "-I", script, run->tool, run->output,
			  run->options->unsandboxed ? "unsandboxed" : NULL, NULL);
		dprintf(STDERR_FILENO, "can't run %s: %s", python, strerror(errno));
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		if (executor_cancelled)
			kill(pid, SIGKILL);
	n = pread(out, said, size - 1, 0);
	while (n > 0 && said[n - 1] == '\n')
		n--;
	said[n > 0 ? n : 0] = '\0';
	close(job);
	close(out);
	return status != 0;
}

void
profiler_count(Measure *m)
{
	char		said[16384];
	Profiling	run = {m, m->options, "any", json_object_get(m->job->root, "task"),
	m->job->candidate[0].code, m->device.key, "counters", &m->device.cores, m->scratch};
	bool		failed;
	json_t	   *told;

	measure_progress(m, "profiling", true);
	failed = profiler_fails(&run, said, sizeof(said));
	told = json_loads(said, 0, NULL);
	if (executor_cancelled)
		conclude(m, OUTCOME_CANCELLED, NULL);
	else if (failed || !json_is_object(told))
		conclude(m, OUTCOME_LOST, "%s", said);
	else
	{
		json_object_set(m->result->evidence, "profile", told);
		conclude(m, OUTCOME_SUCCESSFUL, NULL);
	}
	json_decref(told);
}
