/*
 * jobs.c
 *		What the shared supervision of measurements needs of an agent: its log, the queue over
 *		libpq, results on disk.
 *
 * A result is on disk before the database is told of it, and is offered until the database has
 * answered: `stored`, or `lost`, where the lease ran out while the connection was down and another
 * has the job. The child goes on measuring through both.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "jobs.h"
#include "queue.h"

static void
write_log(const char *text)
{
	agent_log("%s", text);
}

static bool
is_text(const json_t *object, const char *member, const char *text)
{
	const char *value = json_string_value(json_object_get(object, member));

	return value && strcmp(value, text) == 0;
}

static Cudal1Message
read_line(char *line, size_t length)
{
	json_t	   *root = json_loadb(line, length, 0, NULL);
	Cudal1Message message = {.type = CUDAL1_MESSAGE_INVALID};

	if (is_text(root, "type", "result"))
		message.type = CUDAL1_MESSAGE_RESULT;
	else if (is_text(root, "type", "progress"))
		message.type = CUDAL1_MESSAGE_PROGRESS;
	message.waiting = is_text(root, "phase", "waiting");
	message.cancelled = is_text(root, "outcome", "cancelled");
	message.job_id = json_integer_value(json_object_get(root, "job_id"));
	json_decref(root);
	return message;
}

static void
keep(void *device, const Cudal1Claim *claim, const char *result)
{
	spool_keep(&((AgentDevice *) device)->spool, claim, result);
}

static void
forget(void *device, const Cudal1Claim *claim)
{
	spool_drop(&((AgentDevice *) device)->spool, claim);
}

void
jobs_prepare(void)
{
	static const Cudal1Host host = {.log = write_log};
	static const Cudal1Queue queue = {.run = queue_run, .problem = queue_problem,
		.connected = queue_connected, .lease_seconds = &agent_settings.lease, .read = read_line,
		.keep = keep, .forget = forget};

	if (!cudal1_jobs_prepare(&host, &queue))
	{
		agent_log("no epoll descriptor: %s", strerror(errno));
		exit(1);
	}
}

bool
jobs_begin(AgentDevice *device, const Cudal1Claim *claim)
{
	char	   *argv[CUDAL1_COMMAND_WORDS];
	const char *problem;

	agent_command(argv, NULL);
	if (cudal1_jobs_begin(device, claim, argv, agent_settings.scratch, agent_settings.grace,
						  &problem))
		return true;
	agent_log("%s", problem);
	return false;
}
