/*
 * job.h
 *		A job as read from standard input or a file, and the result that is written.
 */
#ifndef CUDAL1_JOB_H
#define CUDAL1_JOB_H

#include <jansson.h>
#include <stdbool.h>

#include "common/random.h"
#include "common/tensor.h"
#include "common/wire.h"
#include "src/score.h"
#include "supervisor/backend/languages.h"

/*
 * the numbers of the protocol; names and meanings as the columns of cudal1.profile, from which
 * defaults and limits come (profile_numbers.h)
 */
typedef struct Profile
{
	int			pairs;
	int			looks[8];
	int			nlooks;
	double		bucket_seconds;
	double		window_seconds;
	bool		mean;			/* the estimator */
	double		precision_goal;
	double		confidence;
	double		half_width_limit;	/* 0: no interval is wide */
	double		variance_limit; /* 0: not judged */
	int			checks;
	double		check_seconds;
	double		run_limit_factor;
	double		run_limit_max;
	double		build_seconds;
	int			memory_mb;
	double		budget_seconds;
} Profile;

/* ways in which an input, or a model, is made another one; see probes.c */
typedef enum ProbeKind
{
	PROBE_CENTRE,
	PROBE_SCALE,
	PROBE_OUTLIERS,
	PROBE_ZEROS,
	PROBE_ROWS,
	PROBE_HELD,
	PROBE_HELD_ACROSS,			/* along another axis */
	PROBE_NEAR,
	PROBE_INPUTS,				/* number of probes that change inputs */
	PROBE_PARAMETERS = PROBE_INPUTS,
	PROBES,
	/* no probes: elements are off by a rounding of their type, or of TF32 and bfloat16 */
	PROBE_ROUNDED = PROBES,
	PROBE_ROUNDED_COARSELY
} ProbeKind;

extern const char *const probe_names[PROBES];

typedef enum ArgumentRole
{
	ROLE_IN,
	ROLE_OUT,
	ROLE_INOUT,
	ROLE_SCALAR,
} ArgumentRole;

typedef struct Argument
{
	char		name[64];
	ArgumentRole role;
	int			input;			/* its number among a run's inputs, or -1 */
	int			output;			/* likewise; inout: it has both */
	Tensor		tensor;			/* a scalar has no dimensions */
	RandomInit	init;
	double		low;
	double		high;
	uint8_t		scalar[8];
} Argument;

typedef struct Signature
{
	char		entry[64];
	Argument	argument[WIRE_MAX_ARGUMENTS];
	int			arguments;
} Signature;

#define HEAT_MAX	32		/* candidates of a job */

typedef struct Coded
{
	const char *code;
	int64_t		job_id;			/* 0: the job did not say */
} Coded;

typedef struct Job
{
	json_t	   *root;			/* owns every string below */
	int			language;		/* of language_facts */
	const char *reference;
	Coded		candidate[HEAT_MAX];
	int			candidates;
	Signature	signature;		/* of functions */
	Tolerance	tolerance;
	Profile		profile;
	unsigned	no_probes;		/* kinds that the task rules out, as bits */
	/* evidence tells bytes and operations of a call, and whether code without work is right */
	bool		certify;
	bool		counters;		/* of kind profile: one run under a profiler, no measurement */
	int			cores;
	const char *device_key;
	char		error[512];
} Job;

/* false: job->error says which member is wrong and what would be valid. The job owns the root. */
extern bool job_parse(Job *job, const char *text, size_t length);
extern bool job_read(Job *job, json_t *root);

#endif							/* CUDAL1_JOB_H */
