/*
 * kernels.c
 *		The supervisor's kernels where no nvcc built them: compiled by NVRTC, or what is missing.
 */
#include "../../runner/common/text.c"
#include "../../runner/supervisor/gpu/cuda_compile.c"

#include "tap.h"

int
main(void)
{
	static const char *const names[] = {"cudal1_fill", "cudal1_poison", "cudal1_stage",
		"cudal1_gather", "cudal1_change", "cudal1_pick", "cudal1_bases", "cudal1_compare"};
	char		newer[] = ".version 9.0\n.target sm_75\n";
	char		problem[512];
	char	   *ptx = gpu_kernels_compile(NULL, problem, sizeof(problem));
	bool		all = ptx != NULL;
	bool		known = gpu_kernels_problem(NULL) == NULL;

	set_version(newer);
	check(strcmp(newer, ".version 6.5\n.target sm_75\n") == 0, "an older driver reads the PTX");
	for (size_t i = 0; all && i < sizeof(names) / sizeof(names[0]); i++)
	{
		char		entry[64];

		snprintf(entry, sizeof(entry), ".entry %s(", names[i]);
		all = strstr(ptx, entry) != NULL;
	}
	if (known)
		check(all, "NVRTC compiles all kernels");
	else
		check(!ptx && strstr(problem, "install libnvrtc"), "without NVRTC that is the problem");
	if (known && !all)
		printf("# %s\n", problem);
	free(ptx);
	return done();
}
