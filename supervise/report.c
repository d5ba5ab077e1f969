/*
 * report.c
 *		Results of claims, as the queue takes them: several in one transaction.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <string.h>

#include "report.h"

static void
append(Cudal1Buffer *text, const char *string)
{
	cudal1_buffer_append(text, string, strlen(string));
}

bool
cudal1_report_write(const Cudal1Report *reports, int n,
					Cudal1Buffer arguments[CUDAL1_FINISH_ARGUMENTS])
{
	bool		good = true;

	memset(arguments, 0, CUDAL1_FINISH_ARGUMENTS * sizeof(*arguments));
	for (int i = 0; i < n; i++)
	{
		char		number[2][32];
		const char *const piece[CUDAL1_FINISH_ARGUMENTS] = {number[0], number[1],
			reports[i].claim->token, reports[i].result};

		snprintf(number[0], sizeof(number[0]), "%lld", (long long) reports[i].claim->job_id);
		snprintf(number[1], sizeof(number[1]), "%d", reports[i].claim->attempt);
		for (int j = 0; j < CUDAL1_FINISH_ARGUMENTS; j++)
		{
			append(&arguments[j], i > 0 ? "," : j < 3 ? "{" : "[");
			append(&arguments[j], piece[j]);
		}
	}
	for (int j = 0; j < CUDAL1_FINISH_ARGUMENTS; j++)
	{
		append(&arguments[j], j < 3 ? "}" : "]");
		good = good && !arguments[j].lost;
	}
	return good;
}

void
cudal1_report_free(Cudal1Buffer arguments[CUDAL1_FINISH_ARGUMENTS])
{
	for (int j = 0; j < CUDAL1_FINISH_ARGUMENTS; j++)
		cudal1_buffer_free(&arguments[j]);
}

void
cudal1_report_read(Cudal1Report *reports, int n, const char *answer)
{
	for (int i = 0; i < n; i++)
	{
		size_t		length = answer ? strcspn(answer, " ") : 0;

		reports[i].answer = length == 6 && memcmp(answer, "stored", 6) == 0 ? CUDAL1_ANSWER_STORED
			: length == 5 && memcmp(answer, "later", 5) == 0 ? CUDAL1_ANSWER_LATER
			: CUDAL1_ANSWER_LOST;
		answer = answer && answer[length] ? answer + length + 1 : NULL;
	}
}
