/*
 * devices.c
 *		Which devices an agent serves.
 *
 * What the host has is the measuring program's knowledge: its lines go to the database as they are.
 * It asks the driver, which names every GPU of the host, also those that a batch system gave to
 * others and keeps apart by CUDA_VISIBLE_DEVICES alone. So that variable is obeyed here, as CUDA
 * itself obeys it: numbers and beginnings of UUIDs, up to the first that fits none.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "common/clock.h"

#define SEARCH_SECONDS	240.0

static AgentDevice found[AGENT_MAX_DEVICES];
static int	nfound = 0;

static void
take_device(void *owner, char *line, size_t length)
{
	json_t	   *root;
	const char *key;
	const char *class;
	json_t	   *index;

	if (nfound == AGENT_MAX_DEVICES || strlen(line) != length)
		return;
	root = json_loads(line, 0, NULL);
	key = json_string_value(json_object_get(root, "key"));
	class = json_string_value(json_object_get(root, "class"));
	index = json_object_get(json_object_get(root, "details"), "index");
	if (key && class)
		found[nfound++] = (AgentDevice){.line = agent_format("%s", line),
			.key = agent_format("%s", key),
			.gpu = strcmp(class, "cuda") == 0,
			.index = json_is_integer(index) ? (int) json_integer_value(index) : -1};
	json_decref(root);
}

void
agent_command(char **argv, const char *option)
{
	cudal1_jobs_command(argv, agent_settings.measure, option, agent_settings.unsandboxed,
						agent_settings.scratch, agent_settings.python);
}

static bool
ask(void)
{
	Cudal1Child search;
	char	   *argv[CUDAL1_COMMAND_WORDS];
	Cudal1Program program = {.label = "cudal1-measure --devices",.argv = argv,
		.scratch = agent_settings.scratch,.on_line = take_device};
	double		until = clock_now() + SEARCH_SECONDS;

	agent_command(argv, "--devices");
	if (!cudal1_child_start(&search, &program))
	{
		agent_log("%s", cudal1_problem);
		return false;
	}
	while (!search.gone && clock_now() < until && agent_mode != AGENT_LEAVE)
	{
		agent_wait(-1, 0, true, until);
		cudal1_child_poll(&search);
		cudal1_children_collect();
	}
	cudal1_child_end(&search);
	return true;
}

/* whether a member of CUDA_VISIBLE_DEVICES names this GPU */
static bool
is_named(const AgentDevice *f, const char *word, size_t length)
{
	bool		number = length > 0 && length < 6 && strspn(word, "0123456789") >= length;

	return f->gpu && (number ? f->index == atoi(word)
					  : length > 4 && strncmp(f->key, word, length) == 0);
}

static bool
is_visible(const AgentDevice *f)
{
	const char *list = f->gpu ? getenv("CUDA_VISIBLE_DEVICES") : NULL;
	bool		known = true;

	if (!list)
		return true;
	for (; known && *list; list += *list == ',')
	{
		size_t		length;

		list += strspn(list, " ");
		length = strcspn(list, ", ");
		if (is_named(f, list, length))
			return true;
		known = false;
		for (int i = 0; i < nfound; i++)
			known |= is_named(&found[i], list, length);
		list += strcspn(list, ",");
	}
	return false;
}

static bool
is_chosen(const AgentDevice *f)
{
	const char *which = agent_settings.device;

	return strcmp(which, "all") == 0 || strcmp(which, f->gpu ? "cuda" : "cpu") == 0
		|| strcmp(which, f->key) == 0;
}

int
devices_find(AgentDevice *devices)
{
	int			n = 0;
	int			hidden = 0;

	if (!ask() || agent_mode == AGENT_LEAVE)
		return 0;
	for (int i = 0; i < nfound; i++)
	{
		if (!is_chosen(&found[i]))
			continue;
		if (is_visible(&found[i]))
			devices[n++] = found[i];
		else
			hidden++;
	}
	if (n == 0)
		agent_log("%s --devices finds no device for --device %s%s", agent_settings.measure,
			agent_settings.device,
			hidden > 0 ? " that CUDA_VISIBLE_DEVICES shows" : "");
	return n;
}
