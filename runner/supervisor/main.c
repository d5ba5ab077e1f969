/*
 * main.c
 *		cudal1-measure: one job in, a result out for each of its candidates.
 *
 * The background worker and the agent run it with the job on standard input, a user runs it with
 * files. The program is trusted; the processes that it starts are not. It removes its scratch
 * folder at its end, and sweeps folders that killed predecessors left, which it finds by their free
 * locks.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "common/options.h"
#include "supervisor/build/build.h"
#include "supervisor/device/device.h"
#include "supervisor/cli.h"

#define SCRATCH_PREFIX	"cudal1-measure-"
#define JOB_LIMIT		((size_t) 64 << 20)

static void
usage(FILE *to)
{
	fputs("cudal1-measure measures candidate kernels against the reference of their task.\n"
		  "\n"
		  "Usage:\n"
		  "  cudal1-measure [OPTION]... TASK CANDIDATE...\n"
		  "  cudal1-measure [OPTION]... [JOB.json]\n"
		  "\n"
		  "TASK is a folder with a task.json, a KernelBench file, or a reference with its\n"
		  "signature in a comment; files end in one of" ROWS_OF_LANGUAGES(ENDING_OF)
		  ". Each candidate\n"
		  "gets a line: of text on a terminal, of JSON in a pipe.\n"
		  "\n"
		  "  --json               lines of JSON on a terminal, too\n"
		  "  --text               lines of text in a pipe, too\n"
		  "  --quick              few short pairs, so wide intervals\n"
		  "  --profile-with TOOL  perf, ncu or timeline: keep a profile of a right\n"
		  "                       candidate here, from a run after its measurement\n"
		  "  --device KEY         cpu:CORES, for instance cpu:1 or cpu:2-3; a GPU's UUID,\n"
		  "                       or cuda:N, N as nvidia-smi counts; default: the last\n"
		  "                       core, for CUDA the first GPU\n"
		  "  --cores N            cores a run may use; default: the task's, or 1\n"
		  "  --signature FILE     JSON: the entry's name and arguments\n"
		  "  --profile FILE       JSON with numbers of the protocol; default: those of\n"
		  "                       profile 'default'\n"
		  "  --python FILE        interpreter with PyTorch; default /usr/bin/python3\n"
		  "  --scratch FOLDER     where a private folder is made; default TMPDIR or /tmp\n"
		  "  --libdir FOLDER      where the executors are\n"
		  "  --allow-unsandboxed  run without bubblewrap: only for code you would run by\n"
		  "                       hand\n"
		  "  --devices            print this host's devices, one a line\n"
		  "  -h, --help           this text\n"
		  "  --version            the version\n"
		  "\n"
		  "A job in JSON, from a file or standard input, is answered with progress and a\n"
		  "result as lines of JSON.\n"
		  "\n"
		  "Exit status: 0 if all candidates are right, 1 if one is not, 2 for wrong\n"
		  "usage, 3 if one could not be measured. Of a job: 0 if a result was written,\n"
		  "1 if not, 2 for wrong usage.\n", to);
}

/* executors beside this program, as in the folder it was built in, come before installed ones */
static const char *
find_libdir(void)
{
	const char *folder = options_own_folder();
	char		path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/exec-c", folder);
	return access(path, X_OK) == 0 ? folder : CUDAL1_LIBDIR;
}

static void
cancel(int number)
{
	executor_cancelled = 1;
}

static void
note_continued(int number)
{
	stopped_continued = stopped_continued + 1;
}

/* Removes scratch folders whose owner has ended. One that was just made may not be locked yet. */
static void
sweep(const char *scratch)
{
	char		command[PATH_MAX + 256];
	char		said[16];

	snprintf(command, sizeof(command), "find '%s/' -maxdepth 1 -type d -name '" SCRATCH_PREFIX
			 "*' -user %u -mmin +1 -exec flock -n {} sh -c '" REMOVE_TREE "' {} \\; 2>/dev/null",
			 scratch, (unsigned) geteuid());
	text_first_line(command, said, sizeof(said));
}

/*
 * Ends what is still a child when all executors have ended: a sandbox whose outer process was
 * killed in the moment before the inner one had asked to die with it comes to us as an orphan, and
 * would wait for ever.
 */
static void
end_orphans(void)
{
	FILE	   *children = fopen("/proc/thread-self/children", "re");
	int			pid;

	while (children && fscanf(children, "%d", &pid) == 1)
		kill(pid, SIGKILL);
	if (children)
		fclose(children);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

/* whether a signal to all processes of the job may have caused this outcome */
static bool
doubtful(const Member *member)
{
	return member->killed || member->result.outcome == OUTCOME_LOST
		|| member->result.outcome == OUTCOME_UNVERIFIED;
}

/*
 * A batch system signals all processes of a job, this one perhaps a moment after those that have
 * ended: their end is no verdict.
 */
static void
heed_signals(Measure *m)
{
	bool		any = false;

	for (int i = 0; i < m->nmembers; i++)
		any = any || doubtful(&m->members[i]);
	if (any && !executor_cancelled)
		clock_sleep(0.1);
	for (int i = 0; i < m->nmembers && executor_cancelled; i++)
		if (doubtful(&m->members[i]))
			m->members[i].result.outcome = OUTCOME_CANCELLED;
}

/*
 * Measures `n` candidates from `first` on and prints their results, but of those that were killed,
 * where `killed` is not NULL: it takes their numbers, to be measured again. Returns how many
 */
static int
measure_once(const Job *job, const Options *options, int first, int n, int *killed)
{
	Measure    *m = measure_zeroed(1, sizeof(Measure));
	int			again = 0;

	m->job = job;
	m->options = options;
	heat_init(m, first, n);
	m->started = clock_now();
	m->device.lock[0] = m->device.lock[1] = -1;
	sweep(options->scratch);
	sandbox_sweep();
	snprintf(m->scratch, sizeof(m->scratch), "%s/" SCRATCH_PREFIX "XXXXXX", options->scratch);
	if (mkdtemp(m->scratch))
	{
		int			lock = open(m->scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		flock(lock, LOCK_EX);
		measure_run(m);
		end_orphans();
		remove_tree(m->scratch);
		close(lock);
		heed_signals(m);
	}
	else
	{
		const char *problem = strerror(errno);

		/* a trainer reads the verdict, the operator this line */
		fprintf(stderr, "cudal1-measure: %s: %s\n", options->scratch, problem);
		conclude(m, OUTCOME_LOST, "can't make a folder in the scratch folder: %s", problem);
		heat_conclude(m);
	}
	for (int i = 0; i < m->nmembers; i++)
	{
		Member	   *member = &m->members[i];

		if (killed && member->killed && !executor_cancelled)
			killed[again++] = member->number;
		else
			result_print(m, member);
	}
	heat_free(m);
	free(m);
	return again;
}

/*
 * Code is measured once more if its process or its compiler was killed from outside, because a user
 * or the kernel, short of memory, may have done it, or if its process was stopped for too long. If
 * it happens again the code is taken to be the cause, and that is its verdict.
 */
static void
measure(const Job *job, const Options *options)
{
	struct sigaction action = {.sa_handler = cancel};
	struct sigaction continued = {.sa_handler = note_continued,.sa_flags = SA_RESTART};
	cpu_set_t	allowed = {{0}};
	int			killed[HEAT_MAX];
	int			again;

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGCONT, &continued, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* where the kernel does not tell them, no process starts */
	sched_getaffinity(0, sizeof(allowed), &allowed);
	again = measure_once(job, options, 0, job->candidates, killed);
	sched_setaffinity(0, sizeof(allowed), &allowed);
	for (int i = 0; i < again; i++)
	{
		measure_once(job, options, killed[i], 1, NULL);
		sched_setaffinity(0, sizeof(allowed), &allowed);
	}
}

/* -1 where the program goes on, otherwise its exit status */
static int
read_options(int argc, char **argv, Options *o, Cli *p)
{
	int			status;
	const Option options[] = {
		{"signature", OPTION_TEXT, &p->signature},
		{"profile", OPTION_TEXT, &p->profile},
		{"quick", OPTION_FLAG, &p->quick},
		{"json", OPTION_FLAG, &p->json},
		{"text", OPTION_FLAG, &p->text},
		{"profile-with", OPTION_TEXT, &p->profile_with},
		{"device", OPTION_TEXT, &p->device},
		{"cores", OPTION_INTEGER, &p->cores, 1, CPU_SETSIZE},
		{"python", OPTION_TEXT, &o->python},
		{"scratch", OPTION_TEXT, &o->scratch},
		{"libdir", OPTION_TEXT, &o->libdir},
		{"allow-unsandboxed", OPTION_FLAG, &o->unsandboxed},
		{"devices", OPTION_FLAG, &p->devices},
		{NULL}
	};

	status = options_read(argc, argv, "cudal1-measure", options, usage);
	if (status >= 0)
		return status;
	/* from the root, as a sandbox needs them */
	o->scratch = realpath(o->scratch, NULL) ?: o->scratch;
	o->libdir = realpath(o->libdir, NULL) ?: o->libdir;
	return -1;
}

/*
 * The candidates of a command line, in as few heats as hold them. All files are read and a
 * profiler is tried before the first is measured, so that a mistake is found at once.
 */
static int
measure_files(Options *options, Cli *cli, char **paths, int n)
{
	const char *term = getenv("TERM");
	const char *no_color = getenv("NO_COLOR");
	bool		capable = !term || strcmp(term, "dumb") != 0;
	json_t	   *roots[(n + HEAT_MAX) / HEAT_MAX];
	Job			job;

	cli->json = cli->json || !(cli->text || isatty(STDOUT_FILENO));
	cli->colour = capable && isatty(STDOUT_FILENO) && !(no_color && no_color[0]);
	options->cli = cli;
	options->person = capable && isatty(STDERR_FILENO);
	cli_read_task(cli, paths[0]);
	for (int i = 1; i < n; i++)
		if (n > 2 && (int) strlen(paths[i]) > cli->width)
			cli->width = (int) strlen(paths[i]);
	for (int i = 1; i < n; i += HEAT_MAX)
		roots[i / HEAT_MAX] = cli_job(cli, paths + i, n - i < HEAT_MAX ? n - i : HEAT_MAX);
	cli_try_profiler(cli, options);
	for (int i = 1; i < n && !executor_cancelled; i += HEAT_MAX)
	{
		if (!job_read(&job, roots[i / HEAT_MAX]))
		{
			fprintf(stderr, "cudal1-measure: %s: %s\n", paths[0], job.error);
			return CLI_USAGE;
		}
		cli->files = paths + i;
		measure(&job, options);
		json_decref(job.root);
	}
	json_decref(cli->task);
	json_decref(cli->numbers);
	return executor_cancelled ? CLI_UNMEASURED : cli->status;
}

int
main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");
	Cli			cli = {0};
	Options		options = {.libdir = find_libdir(), .python = "/usr/bin/python3",
		.scratch = tmp && tmp[0] ? tmp : "/tmp"};
	char	   *text;
	size_t		length;
	Job			job;
	int			status;

	(void) prctl(PR_SET_NAME, SANDBOX_SUPERVISOR);
	status = read_options(argc, argv, &options, &cli);
	if (status >= 0)
		return status;
	signal(SIGPIPE, SIG_IGN);
	if (cli.devices)
	{
		sandbox_sweep();
		device_list(&options);
		return 0;
	}
	if (optind + 1 < argc)
		return measure_files(&options, &cli, argv + optind, argc - optind);
	if (optind < argc)
	{
		const char *end = strrchr(argv[optind], '.');

		if (!end || strcmp(end, ".json") != 0)
		{
			fprintf(stderr, "cudal1-measure: %s names a task; name candidates after it\n",
					argv[optind]);
			return 2;
		}
		text = cli_read_file(argv[optind], &length);
		options.person = isatty(STDERR_FILENO);
	}
	else
	{
		if (isatty(STDIN_FILENO))
			fputs("cudal1-measure: reading a job from the terminal; --help says how to name "
				  "files\n", stderr);
		text = text_read(stdin, JOB_LIMIT, &length);
		options.lines = true;
	}
	if (!text)
		snprintf(job.error, sizeof(job.error), "can't read the job: %s", strerror(errno));
	if (!text || !job_parse(&job, text, length))
	{
		fprintf(stderr, "cudal1-measure: %s\n", job.error);
		return 1;
	}
	free(text);
	measure(&job, &options);
	json_decref(job.root);
	return 0;
}
