/*
 * job.c
 *		What a signature may ask for: no more arrays than the measuring program has room for.
 */
#define _GNU_SOURCE
#include "../../runner/supervisor/job.c"
#include "../../runner/common/tensor.c"

#include "tap.h"

/* a job with so many arguments of each role: what is wrong with it, "" for nothing */
static const char *
judged(int in, int inout, int out, int scalars)
{
	static const char *const roles[] = {"in", "inout", "out", "scalar"};
	static char error[512];
	const int	counts[] = {in, inout, out, scalars};
	json_t	   *args = json_array();
	json_t	   *root;
	char	   *text;
	Job			job;

	for (int role = 0; role < 4; role++)
		for (int i = 0; i < counts[role]; i++)
		{
			json_t	   *argument = json_pack("{s:o, s:s, s:s}", "name",
											 json_sprintf("%s%d", roles[role], i), "dtype", "int32",
											 "role", roles[role]);

			if (role == 3)
				json_object_set_new(argument, "value", json_integer(1));
			else
				json_object_set_new(argument, "shape", json_pack("[i]", 4));
			json_array_append_new(args, argument);
		}
	root = json_pack("{s:{s:s, s:s, s:{s:o}}, s:{s:s}}", "task", "language", "c", "reference", "r",
					 "signature", "args", args, "candidate", "code", "c");
	text = json_dumps(root, 0);
	error[0] = '\0';
	(void) job_parse(&job, text, strlen(text), error, sizeof(error));
	job_free(&job);
	free(text);
	json_decref(root);
	return error;
}

int
main(void)
{
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
	return done();
}
