/*
 * main.c
 *		cudal1-agent: the worker's job over libpq, for hosts without a server. Its command line.
 */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "common/options.h"

static void
usage(FILE *to)
{
	fputs("cudal1-agent measures for a database of another host: it claims jobs, runs\n"
		  "cudal1-measure and reports the results.\n"
		  "\n"
		  "Usage:\n"
		  "  cudal1-agent [OPTION]... [CONNINFO]\n"
		  "\n"
		  "CONNINFO is a connection string or URI as of libpq; what it leaves open comes\n"
		  "from PGHOST, PGPASSFILE and so on. The role needs no more than\n"
		  "SELECT cudal1_grant('role', 'agent') gives.\n"
		  "\n"
		  "  --device WHICH        what to serve: a key as cudal1-measure --devices names\n"
		  "                        it, cpu, cuda or all; default all. Of the GPUs only\n"
		  "                        those in CUDA_VISIBLE_DEVICES, where that is set\n"
		  "  --until-idle[=SEC]    leave when there has been no work for so long (0)\n"
		  "  --once                one job a device, then leave\n"
		  "  --patience SEC        with either of these: leave after so long without a\n"
		  "                        connection, unless something is measured; default 120\n"
		  "  --prefetch N          jobs built ahead while another is measured; default 1\n"
		  "  --poll SEC            time between two looks at the queue; default 1\n"
		  "  --lease SEC           a job without a sign of life is given to another after\n"
		  "                        this time; default 60\n"
		  "  --grace SEC           time a job may take beyond the limits of its profile;\n"
		  "                        default 120\n"
		  "  --host NAME           name of this host in the database; default its own\n"
		  "  --scratch FOLDER      working files; default TMPDIR or /tmp\n"
		  "  --measure FILE        another cudal1-measure than the one beside this program\n"
		  "  --python FILE         interpreter with PyTorch, for cudal1-measure\n"
		  "  --allow-unsandboxed   let candidates run where no sandbox can be set up, with\n"
		  "                        your rights\n"
		  "  -h, --help            this text\n"
		  "  --version             the version\n"
		  "\n"
		  "SIGTERM and SIGINT give back what is being measured and leave; SIGUSR1\n"
		  "finishes it first.\n"
		  "Exit status: 0 after leaving in order, 1 if it could not work, 2 for wrong\n"
		  "usage.\n", to);
}

/* before options are read, which replace them */
static void
fill_settings(void)
{
	static char host[256] = "localhost";
	const char *tmp = getenv("TMPDIR");

	(void) gethostname(host, sizeof(host) - 1);
	agent_settings.host = host;
	agent_settings.measure = agent_format("%s/cudal1-measure", options_own_folder());
	agent_settings.scratch = tmp && tmp[0] ? tmp : "/tmp";
}

int
main(int argc, char **argv)
{
	AgentSettings *s = &agent_settings;
	const Option options[] = {
		{"device", OPTION_TEXT, &s->device},
		{"until-idle", OPTION_NUMBER, &s->until_idle, 0, 1e6, .optional = true},
		{"once", OPTION_FLAG, &s->once},
		{"patience", OPTION_NUMBER, &s->patience, 0, 1e6},
		{"prefetch", OPTION_INTEGER, &s->prefetch, 0, 16},
		{"poll", OPTION_NUMBER, &s->poll, 0.01, 3600},
		{"lease", OPTION_INTEGER, &cudal1_lease_seconds, 1, 86400},
		{"grace", OPTION_INTEGER, &s->grace, 0, 86400},
		{"host", OPTION_TEXT, &s->host},
		{"scratch", OPTION_TEXT, &s->scratch},
		{"measure", OPTION_TEXT, &s->measure},
		{"python", OPTION_TEXT, &s->python},
		{"allow-unsandboxed", OPTION_FLAG, &s->unsandboxed},
		{NULL}
	};
	int			status;

	fill_settings();
	status = options_read(argc, argv, "cudal1-agent", options, usage);
	if (status >= 0)
		return status;
	if (optind + 1 < argc)
	{
		fprintf(stderr, "cudal1-agent: \"%s\" comes after a connection string; quote one of several"
				" words\n", argv[optind + 1]);
		return 2;
	}
	if (optind < argc)
		agent_settings.conninfo = argv[optind];
	if (strchr(agent_settings.conninfo, '=') || strstr(agent_settings.conninfo, "://"))
	{
		char	   *problem = NULL;
		PQconninfoOption *parsed = PQconninfoParse(agent_settings.conninfo, &problem);

		if (!parsed)
		{
			fprintf(stderr, "cudal1-agent: %s", problem ? problem : "no memory\n");
			return 2;
		}
		PQconninfoFree(parsed);
	}
	agent_block_signals();
	srand48((long) time(NULL) ^ ((long) getpid() << 16));
	return work_measure();
}
