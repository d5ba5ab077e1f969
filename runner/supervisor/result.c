/*
 * result.c
 *		The result of one candidate, as a line of JSON.
 */
#include "supervisor/cli.h"
#include "supervisor/measure.h"

#define PROTOCOL	2			/* the clock is the gated run */

static const char *const outcome_names[] = {
	"lost", "successful", "unstable", "compile_error", "launch_failure", "timeout", "crash",
	"wrong_output", "cheat", "unverified", "lost", "cancelled",
};

/* NULL, which json_pack() leaves out, where a number does not apply */
static json_t *
number(double value)
{
	return isfinite(value) ? json_real(value) : NULL;
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
result_print(Measure *m, Member *member)
{
	Result	   *r = &member->result;
	int64_t		job_id = m->job->candidate[member->number].job_id;
	/* before its checks end no code of a candidate has run beside it */
	bool		judged = m->facts.sound || (r->outcome == OUTCOME_UNVERIFIED && !member->killed);
	const Stop *stop = &r->stop;
	bool		timed = stop->ratios.n > 0;
	bool		scored = isfinite(r->score);
	json_t	   *buckets = timed ? json_array() : NULL;
	json_t	   *o;
	char	   *line;

	for (size_t i = 0; i < stop->ratios.n; i++)
		json_array_append_new(buckets, json_real(stop->ratios.v[i]));
	json_object_set_new(r->evidence, "seconds", spendings(r));
	o = json_pack("{s:s, s:o*, s:s, s:s*, s:s*, s:s*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, "
				  "s:o*, s:o*, s:O*, s:o*, s:o*, s:i, s:o*, s:i, s:f, s:f, s:f, s:f, s:f, s:O}",
				  "type", "result", "job_id", job_id > 0 ? json_integer(job_id) : NULL,
				  "outcome", outcome_names[r->outcome], "detail", r->detail[0] ? r->detail : NULL,
				  "reference", judged ? m->facts.sound ? "good" : "bad" : NULL,
				  "code_key", member->code.code_key[0] ? member->code.code_key : NULL,
				  "score", number(r->score), "lower", scored ? number(stop->lower) : NULL,
				  "upper", scored ? number(stop->upper) : NULL,
				  "half_width", scored ? number(stop->half_width) : NULL,
				  "wide", scored ? json_boolean(stop->wide) : NULL,
				  "variance", scored ? number(r->variance) : NULL,
				  "pairs", timed ? json_integer((json_int_t) stop->ratios.n) : NULL,
				  "rounds", timed ? json_integer(r->rounds) : NULL, "bucket_means", buckets,
				  "samples", timed ? json_object_get(r->evidence, "samples") : NULL,
				  "reference_seconds", number(values_median(&r->reference)),
				  "candidate_seconds", number(values_median(&r->candidate)), "checks", r->checks,
				  "max_error", number(r->max_error), "protocol", PROTOCOL,
				  "build_seconds", r->build_seconds, "device_seconds", r->device_seconds,
				  "startup_seconds", r->spent[SPENT_START] + r->spent[SPENT_LOAD]
				  + r->spent[SPENT_FIRST] + r->spent[SPENT_END],
				  "clock_seconds", r->spent[SPENT_CHECK] + r->spent[SPENT_WINDOW],
				  "wall_seconds", r->wall_seconds, "environment", m->environment);
	json_object_del(r->evidence, "samples");
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
