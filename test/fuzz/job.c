/*
 * job.c
 *		libFuzzer driver of the job parser: whatever the bytes are, a job is refused with a reason, or everything in it lies in the
 *		range that the rest of the runner relies on. `make sanitize` builds and runs it.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../runner/supervisor/job.h"

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOLDS(condition) do { if (!(condition)) { fprintf(stderr, "broken: %s\n", #condition); abort(); } } while (0)

static void
check_job(const uint8_t *data, size_t size)
{
	Job			job;
	char	   *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	if (!job_parse(&job, text, size))
		HOLDS(job.error[0] != '\0');
	else
	{
		const Profile *p = &job.profile;

		HOLDS(job.reference != NULL && job.cores >= 1);
		HOLDS(job.candidates >= 1 && job.candidates <= HEAT_MAX);
		for (int i = 0; i < job.candidates; i++)
			HOLDS(job.candidate[i].code != NULL);
		HOLDS(p->nlooks >= 1 && p->nlooks <= 8 && p->pairs >= 1 && p->pairs <= 1000);
		for (int i = 0; i < p->nlooks; i++)
			HOLDS(p->looks[i] >= 2 && p->looks[i] <= 1000);
		HOLDS(isfinite(p->bucket_seconds) && p->bucket_seconds > 0 && isfinite(p->run_limit_max) && isfinite(p->build_seconds));
		if (!language_facts[job.language].module)
		{
			int			inputs = 0;
			int			outputs = 0;

			HOLDS(job.signature.arguments >= 1 && job.signature.arguments <= WIRE_MAX_ARGUMENTS);
			for (int i = 0; i < job.signature.arguments; i++)
			{
				const Argument *a = &job.signature.argument[i];
				size_t		elements = 1;

				HOLDS(memchr(a->name, '\0', sizeof(a->name)) != NULL && a->tensor.ndim <= WIRE_MAX_DIMS);
				for (uint32_t d = 0; d < a->tensor.ndim; d++)
					elements *= (size_t) a->tensor.shape[d];
				HOLDS(a->tensor.elements == elements && a->tensor.bytes == elements * tensor_dtype(a->tensor.dtype)->size);
				inputs += a->role == ROLE_IN || a->role == ROLE_INOUT;
				outputs += a->role == ROLE_OUT || a->role == ROLE_INOUT;
				HOLDS(a->role == ROLE_SCALAR || (a->low <= a->high && isfinite(a->low) && isfinite(a->high)));
			}
			HOLDS(inputs <= WIRE_MAX_TENSORS && outputs >= 1 && outputs <= WIRE_MAX_TENSORS);
		}
	}
	job_free(&job);
	free(text);
}

#ifndef SIGNATURE
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_job(data, size);
	return 0;
}
#endif
