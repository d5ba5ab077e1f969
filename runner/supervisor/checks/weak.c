/*
 * weak.c
 *		Whether code that does no work would be right.
 *
 * A server measures such code as null candidates (sql/46-certification.sql). Where there is none,
 * zeros, what the reference gives for another input, and copies of inputs are compared with the
 * outputs that are expected of a candidate.
 */
#include <stdlib.h>

#include "supervisor/checks/checks.h"

typedef enum Answer
{
	ANSWER_ZEROS,
	ANSWER_OTHER,				/* the outputs for the first input */
	ANSWER_COPY,				/* of an input of the same type and size */
	ANSWERS
} Answer;

static const char *const words[ANSWERS] = {"zeros", "the output for other inputs",
"a copy of an input"};

static const char *
copy_of_input(Checks *c, const Tensor *output, uint32_t slot)
{
	Measure    *m = c->m;

	for (int i = 0; i < m->inputs.n; i++)
	{
		const Tensor *t = &m->inputs.tensor[i];

		if (t->dtype == output->dtype && t->elements == output->elements)
			return m->backend->arrays.input(m, &c->arena, slot, i);
	}
	return NULL;
}

/* whether an answer is right for the input of a slot */
static bool
is_right(Checks *c, Answer answer, const char *zeros, const char *expected, uint32_t slot,
		 const Tolerance *tolerances, bool *right)
{
	Measure    *m = c->m;
	size_t		at = 0;

	*right = true;
	for (int o = 0; o < m->outputs && *right; o++)
	{
		const char *found = answer == ANSWER_ZEROS ? zeros + at
			: answer == ANSWER_OTHER ? c->expected + at : copy_of_input(c, &m->output[o], slot);
		Comparison	differ = {.equal = false};

		if (found
			&& !m->backend->arrays.compare(m, expected + at, found, o, &tolerances[o], &differ))
			return false;
		*right = differ.equal;
		at += measure_gathered(&m->output[o]);
	}
	return true;
}

static bool
passes(Checks *c, Answer answer, const char *zeros, bool *right)
{
	Measure    *m = c->m;

	*right = answer != ANSWER_OTHER || c->n > 1;
	for (uint32_t i = answer == ANSWER_OTHER; i < c->n && *right; i++)
		if (!is_right(c, answer, zeros, c->expected + i * m->output_bytes, i, m->tolerance, right))
			return false;
	for (int i = 0; i < c->probes && *right; i++)
	{
		const Probe *probe = &c->probe[i];

		if (!is_right(c, answer, zeros, probe->expected, probe->slot, probe->tolerance, right))
			return false;
	}
	return true;
}

bool
weak_note(Checks *c)
{
	Measure    *m = c->m;
	char	   *nothing = calloc(1, m->output_bytes + 1);
	char	   *zeros = measure_alloc(m, m->output_bytes);
	bool		right = false;
	bool		good = (nothing && zeros
						&& m->backend->arrays.take(m, zeros, nothing, m->output_bytes))
		|| conclude(m, OUTCOME_LOST, "no memory for outputs of %zu bytes", m->output_bytes);

	for (int answer = 0; answer < ANSWERS && good && !right; answer++)
	{
		good = passes(c, answer, zeros, &right);
		if (good && right)
			json_object_set_new(m->result->evidence, "weak", json_string(words[answer]));
	}
	measure_free(m, zeros);
	free(nothing);
	return good;
}
