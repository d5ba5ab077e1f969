/*
 * job.c
 *		Reads a job.
 *
 * A job comes from the database or from a user's file, never from a candidate. A user wrote its
 * signature, so every number is checked here, and the rest of the program relies on that.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/job.h"

static const Profile default_profile = {
#define NUMBER(name, low, high, nullable, standard) .name = standard,
#include "supervisor/profile_numbers.h"
	.looks = {PROFILE_LOOKS},.nlooks = sizeof((int[]) {PROFILE_LOOKS}) / sizeof(int),
};

static bool __attribute__((format(printf, 2, 3)))
wrong(Job *job, const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	vsnprintf(job->error, sizeof(job->error), format, arguments);
	va_end(arguments);
	return false;
}

/* Index of a member's text among `n` words; -1: it is none of them, or absent. */
static int
word_of(const json_t *object, const char *name, const char *const *words, int n)
{
	const char *text = json_string_value(json_object_get(object, name));

	while (--n >= 0 && (!text || strcmp(text, words[n]) != 0))
		;
	return n;
}

/* absent leaves the default; null means "none", which is 0, where nullable */
static bool
number(Job *job, const json_t *object, const char *name, double low, double high, bool nullable,
	   double *value)
{
	const json_t *member = json_object_get(object, name);
	double		found = json_number_value(member);

	if (member && !(json_is_null(member) && nullable)
		&& !(json_is_number(member) && found >= low && found <= high))
		return wrong(job, "profile: \"%s\" must be a number from %g to %g", name, low, high);
	if (member)
		*value = found;
	return true;
}

static bool
parse_numbers(Job *job, const json_t *o)
{
	Profile    *p = &job->profile;
	double		value;

#define NUMBER(name, low, high, nullable, standard) \
	value = p->name; \
	if (!number(job, o, #name, low, high, nullable, &value)) \
		return false; \
	p->name = value;
#include "supervisor/profile_numbers.h"
	return true;
}

static bool
parse_profile(Job *job, const json_t *o)
{
	Profile    *p = &job->profile;
	const json_t *looks = json_object_get(o, "looks");
	int			estimator = word_of(o, "estimator", (const char *const[]) {"median", "mean"}, 2);

	if (!json_is_object(o))
		return wrong(job, "\"profile\" must be an object");
	if (looks)
	{
		if (!json_is_array(looks) || json_array_size(looks) < 1 || json_array_size(looks) > 8)
			return wrong(job, "profile: \"looks\" must be an array of 1 to 8 numbers of pairs");
		p->nlooks = (int) json_array_size(looks);
		for (int i = 0; i < p->nlooks; i++)
		{
			p->looks[i] = (int) json_integer_value(json_array_get(looks, (size_t) i));
			if (p->looks[i] < 2 || p->looks[i] > 1000 || (i > 0 && p->looks[i] <= p->looks[i - 1]))
				return wrong(job, "profile: \"looks\" must ascend, from 2 to 1000");
		}
	}
	if (json_object_get(o, "estimator"))
		p->mean = estimator == 1;
	if (json_object_get(o, "estimator") && estimator < 0)
		return wrong(job, "profile: \"estimator\" must be \"median\" or \"mean\"");
	return parse_numbers(job, o);
}

static bool
parse_argument(Job *job, Argument *a, const json_t *o, int index)
{
	static const char *const roles[] = {"in", "out", "inout", "scalar"};
	static const char *const inits[] = {"normal", "uniform", "integer", "zero"};
	const char *name = json_string_value(json_object_get(o, "name"));
	const char *dtype = json_string_value(json_object_get(o, "dtype"));
	const json_t *shape = json_object_get(o, "shape");
	const json_t *value = json_object_get(o, "value");
	int			role = word_of(o, "role", roles, 4);
	int			init = word_of(o, "init", inits, 4);
	double		number;

	if (!name || strlen(name) >= sizeof(a->name))
		return wrong(job, "signature: argument %d needs a \"name\" of up to 63 bytes", index + 1);
	strcpy(a->name, name);
	if (role < 0)
		return wrong(job, "signature: argument \"%s\": \"role\" must be in, out, inout or scalar",
					 name);
	a->role = (ArgumentRole) role;
	a->tensor.dtype = dtype ? tensor_dtype_parse(dtype) : WIRE_NO_DTYPE;
	if (a->tensor.dtype == WIRE_NO_DTYPE)
	{
		char		names[32 * WIRE_DTYPES] = "";

		for (uint32_t i = 1; i < WIRE_DTYPES; i++)
			if (tensor_dtype_parse(tensor_dtype(i)->name) == i)
				sprintf(names + strlen(names), "%s%s", names[0] ? ", " : "", tensor_dtype(i)->name);
		return wrong(job, "signature: argument \"%s\": \"dtype\" must be one of %s", name, names);
	}
	if (a->role == ROLE_SCALAR)
	{
		if (!json_is_number(value) && !json_is_boolean(value))
			return wrong(job, "signature: scalar \"%s\" needs a \"value\"", name);
		number = json_is_true(value) ? 1 : json_number_value(value);
		tensor_store(a->scalar, a->tensor.dtype, 0, number, json_is_integer(value)
					 ? json_integer_value(value) : (int64_t) number);
		return tensor_finish(&a->tensor);
	}
	if (!json_is_array(shape) || json_array_size(shape) > WIRE_MAX_DIMS)
		return wrong(job, "signature: argument \"%s\": \"shape\" must be an array of up to %d "
					 "sizes", name, WIRE_MAX_DIMS);
	a->tensor.ndim = (uint32_t) json_array_size(shape);
	for (uint32_t i = 0; i < a->tensor.ndim; i++)
	{
		a->tensor.shape[i] = json_integer_value(json_array_get(shape, i));
		if (a->tensor.shape[i] < 1)
			return wrong(job, "signature: argument \"%s\": sizes must be integers of at least 1",
						 name);
	}
	if (!tensor_finish(&a->tensor))
		return wrong(job, "signature: argument \"%s\" is too large", name);
	if (json_is_string(json_object_get(o, "init")) && init < 0)
		return wrong(job, "signature: argument \"%s\": \"init\" must be normal, uniform, "
					 "integer or zero", name);
	if ((init == RANDOM_NORMAL || init == RANDOM_UNIFORM)
		&& !tensor_dtype_is_float(a->tensor.dtype))
		return wrong(job, "signature: argument \"%s\": \"init\" %s needs a floating point "
					 "dtype", name, inits[init]);
	if (init < 0)
		init = tensor_dtype_is_float(a->tensor.dtype) ? RANDOM_NORMAL : RANDOM_INTEGER;
	a->init = (RandomInit) init;
	a->low = 0;
	a->high = a->tensor.dtype == WIRE_BOOL ? 1 : a->init == RANDOM_INTEGER ? 127 : 1;
	if (json_is_number(json_object_get(o, "low")))
		a->low = json_number_value(json_object_get(o, "low"));
	if (json_is_number(json_object_get(o, "high")))
		a->high = json_number_value(json_object_get(o, "high"));
	if (!(a->low <= a->high) || fabs(a->low) > 9e18 || fabs(a->high) > 9e18)
		return wrong(job, "signature: argument \"%s\": \"low\" must not exceed \"high\"", name);
	return true;
}

static bool
parse_signature(Job *job, const json_t *o)
{
	Signature  *s = &job->signature;
	const char *entry = json_string_value(json_object_get(o, "entry"));
	const json_t *args = json_object_get(o, "args");
	int			inputs = 0;
	int			outputs = 0;

	if (!json_is_object(o) || !json_is_array(args))
		return wrong(job, "\"signature\" must be an object with \"args\"");
	strcpy(s->entry, "solve");
	if (entry)
	{
		if (strlen(entry) == 0 || strlen(entry) >= sizeof(s->entry))
			return wrong(job, "signature: \"entry\" must have 1 to 63 bytes");
		strcpy(s->entry, entry);
	}
	if (json_array_size(args) < 1 || json_array_size(args) > WIRE_MAX_ARGUMENTS)
		return wrong(job, "signature: \"args\" must list 1 to %d arguments", WIRE_MAX_ARGUMENTS);
	s->arguments = (int) json_array_size(args);
	for (int i = 0; i < s->arguments; i++)
	{
		Argument   *a = &s->argument[i];

		if (!parse_argument(job, a, json_array_get(args, (size_t) i), i))
			return false;
		a->input = a->role == ROLE_IN || a->role == ROLE_INOUT ? inputs++ : -1;
		a->output = a->role == ROLE_OUT || a->role == ROLE_INOUT ? outputs++ : -1;
	}
	if (outputs == 0)
		return wrong(job, "signature: at least one argument must be out or inout");
	if (inputs > WIRE_MAX_TENSORS || outputs > WIRE_MAX_TENSORS)
		return wrong(job, "signature: at most %d arguments may be %s or inout",
					 WIRE_MAX_TENSORS, inputs > WIRE_MAX_TENSORS ? "in" : "out");
	return true;
}

/* a signature's "rtol" and "atol" hold where the task's options leave them out */
static double
tolerance(const json_t *task, const json_t *signature, const char *name)
{
	const json_t *value = json_object_get(task, name);

	if (!json_is_number(value))
		value = json_object_get(signature, name);
	return json_is_number(value) && json_number_value(value) >= 0 ? json_number_value(value) : -1;
}

const char *const probe_names[PROBES] = {"centre", "scale", "outliers", "zeros", "rows",
"held", "held", "near", "parameters"};

/* the probes that a task's option of that name says false of, as bits */
static unsigned
ruled_out(const json_t *probes)
{
	unsigned	kinds = json_is_false(probes) ? (1u << PROBE_INPUTS) - 1 : 0;

	for (int i = 0; i < PROBES; i++)
		if (json_is_false(json_object_get(probes, probe_names[i])))
			kinds |= 1u << i;
	return kinds;
}

/* Reads one candidate as "candidate", or several as "candidates". */
static bool
parse_candidates(Job *job)
{
	const json_t *all = json_object_get(job->root, "candidates");
	size_t		n = all ? json_array_size(all) : 1;

	if (n < 1 || n > HEAT_MAX)
		return wrong(job, "\"candidates\" must be an array of 1 to %d", HEAT_MAX);
	for (size_t i = 0; i < n; i++)
	{
		const json_t *one = all ? json_array_get(all, i)
			: json_object_get(job->root, "candidate");
		const char *code = json_string_value(json_object_get(one, "code"));

		if (!code)
			return wrong(job, "a candidate needs a \"code\"");
		job->candidate[job->candidates++] = (Coded) {code,
			json_integer_value(json_object_get(one, "job_id"))};
	}
	return true;
}

bool
job_parse(Job *job, const char *text, size_t length)
{
	json_error_t at;

	job->root = NULL;
	if (length == 0)
		return wrong(job, "no file is named, and there is no job to read (--help)");
	job->root = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &at);
	return job->root ? job_read(job, job->root)
		: wrong(job, "the job is no JSON: %s (line %d)", at.text, at.line);
}

bool
job_read(Job *job, json_t *root)
{
	const json_t *task = json_object_get(root, "task");
	const json_t *device = json_object_get(root, "device");
	const json_t *signature = json_object_get(task, "signature");

	memset(job, 0, sizeof(*job));
	job->root = root;
	job->profile = default_profile;
	job->reference = json_string_value(json_object_get(task, "reference"));
	job->language = language_of(json_string_value(json_object_get(task, "language")), false);
	if (!job->reference)
		return wrong(job, "\"task\" needs a \"reference\"");
	if (!parse_candidates(job))
		return false;
	if (job->language == LANGUAGES)
		return wrong(job, "task: \"language\" must be one of" ROWS_OF_LANGUAGES(NAME_OF));
	if (!language_facts[job->language].module && !parse_signature(job, signature))
		return false;
	job->tolerance.rtol = tolerance(task, signature, "rtol");
	job->tolerance.atol = tolerance(task, signature, "atol");
	job->no_probes = ruled_out(json_object_get(task, "probes"));
	job->certify = json_is_true(json_object_get(task, "certify"));
	job->cores = json_is_integer(json_object_get(task, "cores"))
		? (int) json_integer_value(json_object_get(task, "cores")) : 1;
	if (job->cores < 1)
		return wrong(job, "task: \"cores\" must be at least 1");
	if (json_object_get(job->root, "profile")
		&& !parse_profile(job, json_object_get(job->root, "profile")))
		return false;
	job->counters = word_of(job->root, "kind", (const char *const[]) {"profile"}, 1) == 0;
	job->device_key = json_string_value(json_object_get(device, "key"));
	return true;
}
