/*
 * build_parse.c
 *		Refuses PyTorch candidates that are no Python.
 *
 * Models write these often. What is Python has a hash of its syntax tree. A fork of the interpreter
 * reads the text and runs nothing of it, before the device is taken. What it says nothing of is
 * judged where it is loaded.
 */
#include <stdio.h>

#include "supervisor/build/build_torch.h"
#include "supervisor/heat.h"
#include "supervisor/outcome.h"

#define PARSE_SECONDS	10.0

void
build_parse(Measure *m)
{
	Executor	all[HEAT_MAX];
	Executor   *begun[HEAT_MAX];
	int			n = 0;

	for (int i = 0; i < m->nmembers; i++)
		executor_init(&all[i]);
	for (int i = 0; heat_next(m, &i); i++)
	{
		int			source = m->member->code.source_fd;

		if (executor_fork(&all[i], &m->zygote[0], (int[]) {source, source}, 2,
						  PARSE_SECONDS) == EXECUTOR_OK
			&& executor_begin(&all[i], WIRE_PARSE, 0, 0, 0, PARSE_SECONDS) == EXECUTOR_OK)
			begun[n++] = &all[i];
	}
	executor_await(begun, n);
	for (int i = 0; i < m->nmembers; i++)
	{
		heat_enter(m, &m->members[i]);
		/* no code of a candidate has run in this process, so that none has written it */
		if (all[i].result == EXECUTOR_OK && all[i].control)
			snprintf(m->member->code.code_key, sizeof(m->member->code.code_key), "%.64s",
					 all[i].control->text);
		if (all[i].result == EXECUTOR_FAILED)
			measure_failed(m, SIDE_CANDIDATE, &all[i], all[i].result, "while it was loaded");
		executor_end(&all[i]);
	}
}
