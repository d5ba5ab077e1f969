/*
 * job.c
 *		What a signature may ask for: no more arrays than the measuring program has room for.
 */
#define _GNU_SOURCE
#include "../../runner/supervisor/job.c"
#include "../../runner/common/tensor.c"

#include "tap.h"

static const char *dtype = "int32";
static const char *init = "integer";

/* a job with so many arguments of each role: what is wrong with it, "" for nothing */
static const char *
judged(int in, int inout, int out, int scalars)
{
	static const char *const roles[] = {"in", "inout", "out", "scalar"};
	static char error[512];
	const int	counts[] = {in, inout, out, scalars};
	json_t	   *args = json_array();
	json_t	   *root;
	Job			job;

	for (int role = 0; role < 4; role++)
		for (int i = 0; i < counts[role]; i++)
		{
			json_t	   *argument = json_pack("{s:o, s:s, s:s, s:s}", "name",
											 json_sprintf("%s%d", roles[role], i), "dtype", dtype,
											 "role", roles[role], "init", init);

			if (role == 3)
				json_object_set_new(argument, "value", json_integer(1));
			else
				json_object_set_new(argument, "shape", json_pack("[i]", 4));
			json_array_append_new(args, argument);
		}
	root = json_pack("{s:{s:s, s:s, s:{s:o}}, s:{s:s}}", "task", "language", "c", "reference", "r",
					 "signature", "args", args, "candidate", "code", "c");
	snprintf(error, sizeof(error), "%s", job_read(&job, root) ? "" : job.error);
	json_decref(root);
	return error;
}

/* how many candidates a job with so many has, or -1 where it is refused */
static int
candidates(int n)
{
	json_t	   *all = json_array();
	json_t	   *root;
	Job			job;
	int			found = -1;

	for (int i = 0; i < n; i++)
		json_array_append_new(all, json_pack("{s:i, s:s}", "job_id", 7 + i, "code",
											 i == 0 ? "first" : "later"));
	root = json_pack("{s:{s:s, s:s}, s:o}", "task", "language", "pytorch", "reference", "r",
					 "candidates", all);
	if (job_read(&job, root) && strcmp(job.candidate[0].code, "first") == 0
		&& job.candidate[job.candidates - 1].job_id == 6 + n)
		found = job.candidates;
	json_decref(root);
	return found;
}

int
main(void)
{
	check(candidates(1) == 1 && candidates(HEAT_MAX) == HEAT_MAX,
		  "candidates of a heat, each with the number of its job");
	check(candidates(0) == -1 && candidates(HEAT_MAX + 1) == -1, "at least one, and not too many");
	check(judged(16, 0, 16, 0)[0] == '\0', "as many inputs and outputs as there is room for");
	check(judged(0, 16, 0, 16)[0] == '\0',
		  "arrays that are both, and scalars up to the number of arguments");
	check(strstr(judged(17, 0, 1, 0), "at most 16 arguments may be in or inout") != NULL,
		  "one input more is refused");
	check(strstr(judged(1, 0, 17, 0), "at most 16 arguments may be out or inout") != NULL,
		  "one output more is refused");
	check(judged(8, 9, 0, 0)[0] != '\0' && judged(0, 9, 8, 0)[0] != '\0',
		  "what is both counts on both sides");
	check(strstr(judged(1, 0, 1, 31), "1 to 32 arguments") != NULL, "one argument more is refused");
	init = "uniform";
	check(strstr(judged(1, 0, 1, 0), "uniform needs a floating point dtype") != NULL,
		  "integers are not drawn like other numbers");
	init = "zero";
	dtype = "int16";
	check(strstr(judged(1, 0, 1, 0), "\"dtype\" must be") != NULL,
		  "some types are PyTorch's alone");
	return done();
}
