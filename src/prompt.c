/*
 * prompt.c
 *		The text of a prompt.
 *
 * A template holds the words of a prompt.  Those that are shipped have the structure of CUDA-L1's
 * tables 1 and 3.  What depends on the task is put at the places of a template; its demands are
 * what the measurement enforces: the entry point, the tolerance, fresh work in every call.  The
 * fence around a code is longer than any run of backticks in the code, so no exemplar can end its
 * fence and address the model.
 *
 * The parts of a prompt have bold lines as headings, because hash marks are reserved for the three
 * headings of the answer.
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "arrays.h"

#define LONGEST_PROMPT	10485760
#define LONGEST_PLACE	32			/* with its braces */

PG_FUNCTION_INFO_V1(cudal1_compose_prompt);

/* what a prompt is made of */
typedef struct PromptParts
{
	bool		contrastive;
	bool		gpu;
	char	   *hardware;
	char	   *name;			/* of the task */
	char	   *fence;			/* the label of a code's fence */
	char	   *written;		/* the language, in words */
	char	   *compiled;		/* by what */
	char	   *reference;
	char	   *entry;			/* declaration and arguments; empty: a module of Python */
	char	   *tolerance;
	/* the codes that it shows: those it compares, in ascending score, and those that failed */
	Datum	   *exemplars;
	double	   *scores;
	int			nexemplars;
	Datum	   *counters;		/* of the exemplars, a line each */
	int			ncounters;
	Datum	   *failed;
	Datum	   *reasons;
	int			nfailed;
} PromptParts;

/* text within a fence that is longer than any run of backticks in it */
static void
append_fenced(StringInfo prompt, const char *label, const char *text)
{
	int			longest = 2;
	int			run = 0;
	size_t		length = strlen(text);

	for (const char *p = text; *p; p++)
	{
		run = *p == '`' ? run + 1 : 0;
		longest = Max(longest, run);
	}
	for (int i = 0; i <= longest; i++)
		appendStringInfoChar(prompt, '`');
	appendStringInfo(prompt, "%s\n%s", label, text);
	if (length == 0 || text[length - 1] != '\n')
		appendStringInfoChar(prompt, '\n');
	for (int i = 0; i <= longest; i++)
		appendStringInfoChar(prompt, '`');
	appendStringInfoString(prompt, "\n\n");
}

static void
append_entry(StringInfo prompt, const PromptParts *parts)
{
	if (!parts->entry[0])
		appendStringInfo(prompt,
						 "Write one complete Python file that defines `class "
						 "ModelNew(torch.nn.Module)`. Its constructor and its `forward` take the "
						 "same arguments as those of `Model` in the reference and return outputs "
						 "of the same shapes and dtypes. Give parameters and buffers the names "
						 "and shapes they have in the reference where you can, since their values "
						 "are copied by name; where you can't, create them in the same order with "
						 "the same initialisation. Inputs and constructor arguments come from the "
						 "reference's `get_inputs` and `get_init_inputs`; yours are not called. "
						 "Leave inputs unchanged wherever the reference does. Everything runs on "
						 "the %s through `torch.utils.cpp_extension.load_inline`%s.\n\n",
						 parts->gpu ? "GPU. Kernels of your own may come from CUDA C++"
						 : "CPU. Code of your own may come from C++",
						 parts->gpu ? " or from Triton" : "");
	else
		appendStringInfo(prompt,
						 "Write one complete source file in %s that defines\n\n    %s\n\n"
						 "Arrays are %s. It is compiled by %s. Allocate what you need beyond the "
						 "arguments, and release it, within the call.\n\n",
						 parts->written, parts->entry, parts->gpu
						 ? "device pointers, scalars are passed by value; launch your kernels "
						 "from this function"
						 : "pointers to contiguous memory in row-major order and do not overlap, "
						 "scalars are passed by value", parts->compiled);
}

static void
append_requirements(StringInfo prompt, const PromptParts *parts)
{
	appendStringInfoString(prompt, "**Requirements**\n\n");
	appendStringInfo(prompt,
					 "1. Compute what the reference computes, for any inputs of these shapes: %s. "
					 "A wrong result scores 0.\n"
					 "2. Compile and run as it stands on %s. Code that doesn't compile, crashes "
					 "or doesn't end scores 0.\n"
					 "3. Stay numerically stable for large values, wherever the reference is.\n\n",
					 parts->tolerance, parts->hardware);
}

static void
append_restrictions(StringInfo prompt, const PromptParts *parts)
{
	appendStringInfo(prompt,
					 "**Restrictions**\n\n"
					 "1. Do all the work in every call. Keep no results, inputs or addresses from "
					 "one call for another, and put no work off.\n"
					 "2. Leave hyperparameters as they are: batch size, dimensions, dtypes, "
					 "scaling factors and everything else the reference fixes.\n"
					 "3. Finish with the call: %s\n"
					 "4. Use no files, network, other processes, environment variables, or the "
					 "interpreter's or measurement's internals.\n\n",
					 parts->gpu ? "work on streams of your own counts until the whole device is "
					 "idle, so streams are for overlap within a call only." :
					 "threads of your own must have done their work when it returns.");
}

static void
append_protocol(StringInfo prompt, const PromptParts *parts)
{
	appendStringInfoString(prompt,
						   "**Answer**\n\n"
						   "Answer in three sections under exactly these headings, each on a line "
						   "of its own with exactly two hash signs:\n\n"
						   "## Performance Analysis\n");
	if (parts->contrastive)
		appendStringInfoString(prompt,
							   "Compare the implementations above:\n"
							   "1. Which of them score best, and what in their algorithm or "
							   "implementation is the reason?\n"
							   "2. Which of their optimisations promise most if they are taken "
							   "further?\n"
							   "3. What limits the performance of each: memory traffic, "
							   "arithmetic, latency, launches, allocation?\n"
							   "4. Which techniques of this platform has none of them used?\n"
							   "5. Where is the largest gain still to be had?\n\n");
	else
		appendStringInfoString(prompt,
							   "Say what limits the performance of the reference, and where the "
							   "largest gain is to be had.\n\n");
	appendStringInfoString(prompt,
						   "## Algorithm Design\n"
						   "Describe your optimisation as numbered points in plain words.\n\n"
						   "## Code Implementation\n"
						   "Give the complete code in a single fenced code block.\n");
}

static void
append_exemplars(StringInfo prompt, const PromptParts *parts)
{
	appendStringInfoString(prompt, "**Earlier implementations with scores**\n\n");
	for (int i = 0; i < parts->nexemplars; i++)
	{
		appendStringInfo(prompt, "Implementation %d (score %.2f)\n\n", i + 1, parts->scores[i]);
		append_fenced(prompt, parts->fence, TextDatumGetCString(parts->exemplars[i]));
		if (parts->ncounters > 0 && VARSIZE_ANY_EXHDR(DatumGetPointer(parts->counters[i])) > 0)
			appendStringInfo(prompt, "Counters of a call: %s.\n\n",
							 TextDatumGetCString(parts->counters[i]));
	}
	if (parts->nexemplars == 0)
	{
		appendStringInfoString(prompt,
							   "Implementation 1 (score 1.00), the reference: there is no other "
							   "yet\n\n");
		append_fenced(prompt, parts->fence, parts->reference);
	}
}

static void
append_failures(StringInfo prompt, const PromptParts *parts)
{
	if (parts->nfailed == 0)
		return;
	appendStringInfoString(prompt,
						   "**Failed attempts**\n\n"
						   "These scored 0, for the reason that stands before each. Don't repeat "
						   "their mistakes.\n\n");
	for (int i = 0; i < parts->nfailed; i++)
	{
		appendStringInfo(prompt, "Failed attempt %d\n\n", i + 1);
		append_fenced(prompt, "text", TextDatumGetCString(parts->reasons[i]));
		append_fenced(prompt, parts->fence, TextDatumGetCString(parts->failed[i]));
	}
}

/* Appends the words for a place of a template; false: no place has that name. */
static bool
append_place(StringInfo prompt, const char *name, const PromptParts *parts)
{
	if (strcmp(name, "task") == 0)
		appendStringInfoString(prompt, parts->name);
	else if (strcmp(name, "expertise") == 0)
		appendStringInfo(prompt, parts->gpu
						 ? "CUDA programming and the optimisation of GPU kernels"
						 : "%s and the optimisation of numerical code for CPUs", parts->written);
	else if (strcmp(name, "device") == 0)
		appendStringInfoString(prompt, parts->hardware);
	else if (strcmp(name, "entry") == 0)
		append_entry(prompt, parts);
	else if (strcmp(name, "reference") == 0)
		append_fenced(prompt, parts->fence, parts->reference);
	else if (strcmp(name, "exemplars") == 0)
		append_exemplars(prompt, parts);
	else if (strcmp(name, "counters") == 0)
		appendStringInfoString(prompt, parts->ncounters == 0 ? "" :
							   "Counters beside an implementation are of one call of it under a "
							   "profiler.\n\n");
	else if (strcmp(name, "failures") == 0)
		append_failures(prompt, parts);
	else if (strcmp(name, "requirements") == 0)
		append_requirements(prompt, parts);
	else if (strcmp(name, "restrictions") == 0)
		append_restrictions(prompt, parts);
	else if (strcmp(name, "answer_format") == 0)
		append_protocol(prompt, parts);
	else
		return false;
	return true;
}

/* braces around anything but the name of a place stay as they are, as do those of codes */
static void
append_template(StringInfo prompt, const char *words, const PromptParts *parts)
{
	while (*words)
	{
		const char *end = *words == '{'
			? memchr(words, '}', strnlen(words, LONGEST_PLACE)) : NULL;
		char		name[LONGEST_PLACE] = "";

		/* before places that are named many times fill the memory */
		if (prompt->len > LONGEST_PROMPT)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("the prompt would be longer than 10 MiB"),
					 errhint("Ask for fewer exemplars or failures.")));
		if (end != NULL)
			memcpy(name, words + 1, end - words - 1);
		if (append_place(prompt, name, parts))
			words = end + 1;
		else
			appendStringInfoChar(prompt, *words++);
	}
}

static Datum *
read_texts(ArrayType *array, const char *name, int n)
{
	int			length;
	Datum	   *texts = cudal1_array_unpack(array, name, &length, NULL);

	if (length != n)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("argument \"%s\" must have %d members", name, n)));
	return texts;
}

/*
 * cudal1.compose_prompt(contrastive boolean, gpu boolean, hardware text, name text, fence text,
 *						 written text, compiled text, reference text, entry text, tolerance text,
 *						 codes text[], scores float8[], counters text[], failed text[],
 *						 reasons text[], template text)
 * RETURNS text
 */
Datum
cudal1_compose_prompt(PG_FUNCTION_ARGS)
{
	PromptParts parts;
	StringInfoData prompt;

	for (int i = 0; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("no argument may be NULL")));
	parts.contrastive = PG_GETARG_BOOL(0);
	parts.gpu = PG_GETARG_BOOL(1);
	parts.hardware = text_to_cstring(PG_GETARG_TEXT_PP(2));
	parts.name = text_to_cstring(PG_GETARG_TEXT_PP(3));
	parts.fence = text_to_cstring(PG_GETARG_TEXT_PP(4));
	parts.written = text_to_cstring(PG_GETARG_TEXT_PP(5));
	parts.compiled = text_to_cstring(PG_GETARG_TEXT_PP(6));
	parts.reference = text_to_cstring(PG_GETARG_TEXT_PP(7));
	parts.entry = text_to_cstring(PG_GETARG_TEXT_PP(8));
	parts.tolerance = text_to_cstring(PG_GETARG_TEXT_PP(9));
	parts.scores = cudal1_array_float8(PG_GETARG_ARRAYTYPE_P(11), "scores", &parts.nexemplars,
									   NULL);
	parts.exemplars = read_texts(PG_GETARG_ARRAYTYPE_P(10), "codes", parts.nexemplars);
	parts.counters = cudal1_array_unpack(PG_GETARG_ARRAYTYPE_P(12), "counters", &parts.ncounters,
										 NULL);
	if (parts.ncounters > 0)
		parts.counters = read_texts(PG_GETARG_ARRAYTYPE_P(12), "counters", parts.nexemplars);
	parts.failed = cudal1_array_unpack(PG_GETARG_ARRAYTYPE_P(13), "failed", &parts.nfailed, NULL);
	parts.reasons = read_texts(PG_GETARG_ARRAYTYPE_P(14), "reasons", parts.nfailed);

	initStringInfo(&prompt);
	append_template(&prompt, text_to_cstring(PG_GETARG_TEXT_PP(15)), &parts);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(prompt.data, prompt.len));
}
