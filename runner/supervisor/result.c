/*
 * result.c
 *		The result of one candidate, as a line of JSON.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "supervisor/cli.h"
#include "supervisor/measure.h"

#define PROTOCOL	2			/* the clock is the gated run */

static const char *const outcome_names[] = {
	"lost", "successful", "unstable", "compile_error", "launch_failure", "timeout", "crash",
	"wrong_output", "cheat", "unverified", "lost", "cancelled",
};

/* a number, or nothing where it does not apply */
static void
put_number(json_t *object, const char *name, double value)
{
	if (isfinite(value))
		json_object_set_new(object, name, json_real(value));
}

/* in milliseconds' precision: where the time of a device went */
static json_t *
spendings(const Result *r)
{
	static const char *const names[SPENDINGS] = {
		"build", "start", "load", "first", "inputs", "check", "window", "compare", "end"
	};
	json_t	   *o = json_object();

	for (int i = 0; i < SPENDINGS; i++)
		json_object_set_new(o, names[i], json_real(round(fmax(r->spent[i], 0) * 1000) / 1000));
	return o;
}

void
result_print(const Measure *m, Member *member)
{
	Result	   *r = &member->result;
	int64_t		job_id = m->job->candidate[member->number].job_id;
	json_t	   *o = json_object();
	char	   *line;

	json_object_set_new(o, "type", json_string("result"));
	if (job_id > 0)
		json_object_set_new(o, "job_id", json_integer(job_id));
	json_object_set_new(o, "outcome", json_string(outcome_names[r->outcome]));
	if (r->detail[0])
		json_object_set_new(o, "detail", json_string(r->detail));
	/* before its checks end no code of a candidate has run beside it */
	if (m->facts.sound || (r->outcome == OUTCOME_UNVERIFIED && !member->killed))
		json_object_set_new(o, "reference", json_string(m->facts.sound ? "good" : "bad"));
	if (member->code.code_key[0])
		json_object_set_new(o, "code_key", json_string(member->code.code_key));
	put_number(o, "score", r->score);
	put_number(o, "lower", r->lower);
	put_number(o, "upper", r->upper);
	put_number(o, "half_width", r->half_width);
	if (isfinite(r->half_width))
		json_object_set_new(o, "wide", json_boolean(r->wide));
	put_number(o, "variance", r->variance);
	if (r->pairs > 0)
	{
		json_t	   *buckets = json_array();

		json_object_set_new(o, "pairs", json_integer(r->pairs));
		json_object_set_new(o, "rounds", json_integer(r->rounds));
		for (int i = 0; i < r->pairs; i++)
			json_array_append_new(buckets, json_real(r->buckets[i]));
		json_object_set_new(o, "bucket_means", buckets);
		json_object_set(o, "samples", json_object_get(r->evidence, "samples"));
	}
	json_object_del(r->evidence, "samples");
	put_number(o, "reference_seconds", r->reference_seconds);
	put_number(o, "candidate_seconds", r->candidate_seconds);
	json_object_set_new(o, "checks", json_integer(r->checks));
	put_number(o, "max_error", r->max_error);
	json_object_set_new(o, "protocol", json_integer(PROTOCOL));
	put_number(o, "build_seconds", r->build_seconds);
	put_number(o, "device_seconds", r->device_seconds);
	put_number(o, "startup_seconds", r->spent[SPENT_START] + r->spent[SPENT_LOAD]
			   + r->spent[SPENT_FIRST] + r->spent[SPENT_END]);
	put_number(o, "clock_seconds", r->spent[SPENT_CHECK] + r->spent[SPENT_WINDOW]);
	put_number(o, "wall_seconds", r->wall_seconds);
	json_object_set_new(r->evidence, "seconds", spendings(r));
	json_object_set(o, "environment", m->environment);
	json_object_set(o, "evidence", r->evidence);
	if (m->options->person)
		fputs("\r\033[K", stderr);
	if (!m->options->cli || !cli_show(m, member, o))
	{
		/* a terminal shows the line where files were named */
		line = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9)
						  | (m->options->cli ? JSON_ENSURE_ASCII : 0));
		puts(line ? line : "{\"type\": \"result\", \"outcome\": \"lost\", \"detail\": \"the "
			 "result could not be written as JSON\"}");
		free(line);
	}
	fflush(stdout);
	json_decref(o);
}
