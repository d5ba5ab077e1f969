/*
 * response.c
 *		A model's answer, taken apart into analysis, design and code.
 *
 * Models keep to the demanded form only roughly, and a good kernel should not be lost to a missing
 * colon or backtick.  So the parser is generous about marks and strict about substance: all three
 * sections must be there, and the code must be complete.
 *
 * An answer is read once, line by line.  Headings count only outside of code fences, with one
 * exception: the heading of a later section ends a fence that the model forgot to close.
 *
 * A section of code may have several fences, because models first sketch, then write, then show how
 * to compile.  The last one counts that is at least half as long as the longest.  If that fence is
 * not closed, the answer was cut off, however complete the sketch before it is.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(cudal1_parse_response);

typedef enum SectionKind
{
	SECTION_NONE = -1,
	SECTION_ANALYSIS,
	SECTION_DESIGN,
	SECTION_CODE,
} SectionKind;

static const char *const section_titles[] = {"Performance Analysis", "Algorithm Design",
	"Code Implementation"};

typedef struct Section
{
	SectionKind kind;
	const char *start;			/* behind the title */
	const char *end;
	int			fence;			/* index of its first fence: its fences lie side by side */
	int			nfences;
} Section;

typedef struct Fence
{
	char		mark;			/* backtick or tilde */
	int			length;			/* number of marks */
	int			indent;			/* columns to take off each line */
	bool		prose;			/* labelled as something else than code */
	bool		closed;
	const char *start;
	const char *end;
} Fence;

typedef struct Answer
{
	Section    *sections;
	int			nsections;
	Fence	   *fences;
	int			nfences;
} Answer;

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || IS_HIGHBIT_SET(c);
}

static const char *
skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

static const char *
skip_lines(const char *p, const char *end)
{
	while (p < end && (is_blank(*p) || *p == '\n'))
		p++;
	return p;
}

static const char *
line_end(const char *p, const char *end)
{
	const char *newline = memchr(p, '\n', end - p);

	return newline ? newline : end;
}

/*
 * Where a title at p ends, its words separated by blanks, hyphens or underscores; NULL if there is
 * none.
 */
static const char *
match_title(const char *p, const char *end, const char *title)
{
	for (; *title; title++)
	{
		if (*title == ' ')
		{
			const char *word = p;

			while (word < end && (is_blank(*word) || *word == '-' || *word == '_'))
				word++;
			if (word == p)
				return NULL;
			p = word;
		}
		else
		{
			if (p >= end || pg_strncasecmp(p, title, 1) != 0)
				return NULL;
			p++;
		}
	}
	return p < end && is_word(*p) ? NULL : p;
}

/*
 * The section that the line is a heading of.  Hashes, bold, quotes and numbers may stand before the
 * title, marks and a colon behind it.  Without any mark the title must be alone on its line.  *rest
 * is where the section's text begins; *hashed says whether the heading is one in Markdown.
 */
static SectionKind
match_heading(const char *p, const char *end, const char **rest, bool *hashed)
{
	bool		marked = false;
	bool		colon = false;

	*hashed = false;
	for (;;)
	{
		p = skip_blanks(p, end);
		if (p < end && (*p == '#' || *p == '*' || *p == '_' || *p == '>'))
		{
			*hashed |= *p == '#';
			marked = true;
			p++;
		}
		else if (p < end && (*p == '(' || is_digit(*p)))
		{
			/* a number: 1. or 1) or (3.1) */
			while (p < end && (strchr("().:", *p) != NULL || is_digit(*p)))
				p++;
		}
		else
			break;
	}

	for (int kind = SECTION_ANALYSIS; kind <= SECTION_CODE; kind++)
	{
		const char *after = match_title(p, end, section_titles[kind]);

		if (after == NULL)
			continue;
		while (after < end && (is_blank(*after) || strchr("*_#:", *after) != NULL))
		{
			colon |= *after == ':';
			after++;
		}
		if (after < end && !(marked && (*hashed || colon)))
			return SECTION_NONE;
		/* a longer title counts, too: "## Algorithm Design Considerations" */
		*rest = after;
		return (SectionKind) kind;
	}
	return SECTION_NONE;
}

/* labels of fences that hold no code of a candidate */
static bool
is_prose_label(const char *label, int length)
{
	static const char *const labels[] = {"bash", "console", "csv", "diff", "json", "log",
		"markdown", "md", "none", "output", "plain", "plaintext", "ps1", "sh", "shell",
		"shellsession", "text", "toml", "txt", "xml", "yaml", "yml", "zsh"};

	for (int i = 0; i < lengthof(labels); i++)
		if (strlen(labels[i]) == length && pg_strncasecmp(labels[i], label, length) == 0)
			return true;
	return false;
}

static bool
match_fence_open(const char *line, const char *end, Fence *fence)
{
	const char *p = skip_blanks(line, end);
	const char *marks = p;
	const char *label;

	if (p >= end || (*p != '`' && *p != '~'))
		return false;
	while (p < end && *p == *marks)
		p++;
	if (p - marks < 3)
		return false;
	/* ```x``` is code within a line */
	if (*marks == '`' && memchr(p, '`', end - p) != NULL)
		return false;

	memset(fence, 0, sizeof(Fence));
	fence->mark = *marks;
	fence->length = p - marks;
	fence->indent = marks - line;
	label = p = skip_blanks(p, end);
	while (p < end && is_word(*p))
		p++;
	fence->prose = is_prose_label(label, p - label);
	return true;
}

static bool
match_fence_close(const char *line, const char *end, const Fence *fence)
{
	const char *p = skip_blanks(line, end);
	const char *marks = p;

	while (p < end && *p == fence->mark)
		p++;
	if (p - marks < fence->length)
		return false;
	p = skip_blanks(p, end);
	/* an end-of-text token may stick to the fence */
	return p == end || *p == '<';
}

/* where a closing tag at p ends, if nothing but blanks follows it on its line; else NULL */
static const char *
match_closing_line(const char *p, const char *end, const char *closing)
{
	const char *text = skip_blanks(p, end);

	if (end - text < strlen(closing) || pg_strncasecmp(text, closing, strlen(closing)) != 0)
		return NULL;
	text = skip_blanks(text + strlen(closing), end);
	return text == end || *text == '\n' ? text : NULL;
}

/* the first place with a tag, in capitals or not; NULL: none */
static const char *
find_tag(const char *p, const char *end, const char *tag)
{
	size_t		length = strlen(tag);

	while (end - p >= length && (p = memchr(p, *tag, end - p - length + 1)) != NULL)
	{
		if (pg_strncasecmp(p, tag, length) == 0)
			return p;
		p++;
	}
	return NULL;
}

/*
 * Where the answer begins, behind the model's reasoning.  Reasoning is a block
 * <think> ... </think>, or everything up to a line that is nothing but the closing tag, because
 * chat templates put the opening tag into the prompt.  NULL: the reasoning never ends.
 *
 * Only the last line with a closing tag counts, so such lines are searched for once, however many
 * blocks there are.  Behind a block only the rest of its own line can be another such line.
 */
static const char *
skip_reasoning(const char *p, const char *end)
{
	static const char *const openings[] = {"<think>", "<thinking>", "<reasoning>"};
	static const char *const closings[] = {"</think>", "</thinking>", "</reasoning>"};
	const char *last[lengthof(closings)] = {NULL};	/* lines, and where they end */
	const char *last_end[lengthof(closings)] = {NULL};
	bool		again;

	for (const char *line = p; line < end; line = line_end(line, end) + 1)
	{
		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < lengthof(closings); i++)
		{
			const char *stop = match_closing_line(line, end, closings[i]);

			if (stop != NULL)
			{
				last[i] = line;
				last_end[i] = stop;
			}
		}
	}

	do
	{
		CHECK_FOR_INTERRUPTS();
		again = false;
		for (int i = 0; i < lengthof(openings); i++)
		{
			const char *start = skip_lines(p, end);
			const char *stop;

			if (end - start >= strlen(openings[i]) &&
				pg_strncasecmp(start, openings[i], strlen(openings[i])) == 0)
			{
				const char *found = find_tag(start, end, closings[i]);

				if (found == NULL)
					return NULL;
				p = found + strlen(closings[i]);
				again = true;
			}
			else if (last[i] != NULL && last[i] >= p)
				p = last_end[i];
			else if ((stop = match_closing_line(p, end, closings[i])) != NULL)
				p = stop;
		}
	} while (again);
	return p;
}

static void
end_section(Answer *answer, const char *where)
{
	if (answer->nsections > 0)
		answer->sections[answer->nsections - 1].end = where;
}

static void
scan_answer(const char *text, const char *end, Answer *answer)
{
	int			max_sections = 8;
	int			max_fences = 8;
	bool		open = false;

	answer->sections = palloc(max_sections * sizeof(Section));
	answer->fences = palloc(max_fences * sizeof(Fence));
	answer->nsections = answer->nfences = 0;

	for (const char *line = text; line < end; line = line_end(line, end) + 1)
	{
		const char *stop = line_end(line, end);
		const char *rest;
		bool		hashed;
		Section    *section = NULL;
		SectionKind current = SECTION_NONE;
		SectionKind kind;

		CHECK_FOR_INTERRUPTS();
		if (answer->nsections > 0)
		{
			section = &answer->sections[answer->nsections - 1];
			current = section->kind;
		}
		if (open)
		{
			Fence	   *fence = &answer->fences[answer->nfences - 1];

			if (match_fence_close(line, stop, fence))
			{
				fence->closed = true;
				fence->end = line;
				open = false;
				continue;
			}
			kind = match_heading(line, stop, &rest, &hashed);
			if (kind == SECTION_NONE || !hashed || kind <= current)
				continue;
			fence->end = line;
			open = false;
		}
		else
			kind = match_heading(line, stop, &rest, &hashed);

		if (kind != SECTION_NONE)
		{
			end_section(answer, line);
			if (answer->nsections == max_sections)
			{
				max_sections *= 2;
				answer->sections = repalloc(answer->sections, max_sections * sizeof(Section));
			}
			answer->sections[answer->nsections++] = (Section) {
				.kind = kind,.start = rest,.end = end,.fence = answer->nfences
			};
			continue;
		}

		if (answer->nfences == max_fences)
		{
			max_fences *= 2;
			answer->fences = repalloc(answer->fences, max_fences * sizeof(Fence));
		}
		if (match_fence_open(line, stop, &answer->fences[answer->nfences]))
		{
			Fence	   *fence = &answer->fences[answer->nfences++];

			if (section != NULL)
				section->nfences++;
			fence->start = Min(stop + 1, end);
			fence->end = end;
			open = true;
		}
	}
}

static bool
is_empty(const char *p, const char *end)
{
	return skip_lines(p, end) == end;
}

/* the fence that holds a section's code, or NULL */
static Fence *
choose_fence(Answer *answer, const Section *section)
{
	Fence	   *first = &answer->fences[section->fence];
	Fence	   *behind = first + section->nfences;
	Fence	   *chosen = NULL;

	/* fences with the label of something else count only where there is no other */
	for (int pass = 0; pass < 2 && chosen == NULL; pass++)
	{
		ptrdiff_t	longest = 0;

		for (Fence *fence = first; fence < behind; fence++)
			if (fence->prose == (pass == 1) && !is_empty(fence->start, fence->end))
				longest = Max(longest, fence->end - fence->start);
		for (Fence *fence = first; fence < behind; fence++)
			if (fence->prose == (pass == 1) && !is_empty(fence->start, fence->end) &&
				2 * (fence->end - fence->start) >= longest)
				chosen = fence;
	}
	return chosen;
}

/* without blank lines before and blanks after */
static text *
trimmed_text(const char *start, const char *end)
{
	const char *p = start;

	while (p < end && (is_blank(*p) || *p == '\n'))
	{
		if (*p == '\n')
			start = p + 1;
		p++;
	}
	while (end > start && (is_blank(end[-1]) || end[-1] == '\n'))
		end--;
	return cstring_to_text_with_len(start, Max(end - start, 0));
}

static text *
fence_text(const Fence *fence)
{
	StringInfoData code;
	const char *end = fence->end;

	initStringInfo(&code);
	if (end > fence->start && end[-1] == '\n')
		end--;
	for (const char *line = fence->start, *stop; line <= end; line = stop + 1)
	{
		const char *p = line;

		stop = line_end(line, end);
		while (p < stop && p - line < fence->indent && (*p == ' ' || *p == '\t'))
			p++;
		if (line > fence->start)
			appendStringInfoChar(&code, '\n');
		appendBinaryStringInfo(&code, p, stop - p);
	}
	return cstring_to_text_with_len(code.data, code.len);
}

/* line ends of all systems become newlines */
static char *
unify_line_ends(const text *response)
{
	const char *from = VARDATA_ANY(response);
	int			length = VARSIZE_ANY_EXHDR(response);
	char	   *unified = palloc(length + 1);
	char	   *to = unified;

	for (int i = 0; i < length; i++)
	{
		if (from[i] != '\r')
			*to++ = from[i];
		else if (i + 1 >= length || from[i + 1] != '\n')
			*to++ = '\n';
	}
	*to = '\0';
	return unified;
}

/*
 * Which sections count: the last section of code that has a fence, or else the last; of the others
 * the last one before the code, or else the last.  chosen[] holds indexes, -1 where there is none.
 * Returns the fence that holds the code, or NULL.
 */
static Fence *
choose_sections(Answer *answer, int chosen[3])
{
	Fence	   *code = NULL;

	for (int kind = SECTION_ANALYSIS; kind <= SECTION_CODE; kind++)
		chosen[kind] = -1;
	for (int i = 0; i < answer->nsections; i++)
	{
		Fence	   *fence;

		if (answer->sections[i].kind != SECTION_CODE)
			continue;
		CHECK_FOR_INTERRUPTS();
		fence = choose_fence(answer, &answer->sections[i]);
		if (fence == NULL && code != NULL)
			continue;
		chosen[SECTION_CODE] = i;
		code = fence;
	}
	for (int kind = SECTION_ANALYSIS; kind <= SECTION_DESIGN; kind++)
		for (int i = 0; i < answer->nsections; i++)
			if (answer->sections[i].kind == kind &&
				(chosen[kind] < 0 || chosen[SECTION_CODE] < 0 || i < chosen[SECTION_CODE]))
				chosen[kind] = i;
	return code;
}

/* the code of a section and its fence, NULL where there is none: *problem says why */
static text *
section_code(const Section *section, const Fence *fence, const char **problem)
{
	text	   *bare;

	if (fence != NULL && fence->closed)
		return fence_text(fence);
	if (fence != NULL)
	{
		*problem = "the code fence is not closed: the answer was cut off";
		return NULL;
	}
	bare = trimmed_text(section->start, section->end);
	/* nothing, or only fences that hold nothing */
	if (VARSIZE_ANY_EXHDR(bare) == 0 || section->nfences > 0)
	{
		*problem = psprintf("section \"## %s\" holds no code", section_titles[section->kind]);
		return NULL;
	}
	return bare;
}

/* fills the columns analysis, design and code; returns why the answer is not complete, or "" */
static char *
read_sections(Answer *answer, Datum *values, bool *nulls)
{
	int			chosen[3];
	Fence	   *fence = choose_sections(answer, chosen);
	StringInfoData reason;

	initStringInfo(&reason);
	for (int kind = SECTION_ANALYSIS; kind <= SECTION_CODE; kind++)
	{
		const char *problem = NULL;
		text	   *content = NULL;

		if (chosen[kind] < 0)
			problem = psprintf("section \"## %s\" is missing", section_titles[kind]);
		else if (kind == SECTION_CODE)
			content = section_code(&answer->sections[chosen[kind]], fence, &problem);
		else
			content = trimmed_text(answer->sections[chosen[kind]].start,
								   answer->sections[chosen[kind]].end);
		if (problem != NULL)
			appendStringInfo(&reason, "%s%s", reason.len > 0 ? "; " : "", problem);
		nulls[kind] = content == NULL;
		values[kind] = PointerGetDatum(content);
	}
	return reason.data;
}

/* fills three columns; returns why the answer is not complete, or "" */
static const char *
parse_response(const text *response, Datum *values, bool *nulls)
{
	char	   *unified = unify_line_ends(response);
	const char *end = unified + strlen(unified);
	const char *start = skip_reasoning(unified, end);
	Answer		answer;

	if (start == NULL)
		return "the reasoning block is not closed: the answer was cut off";
	if (is_empty(start, end))
		return "the response is empty";
	scan_answer(start, end, &answer);
	return read_sections(&answer, values, nulls);
}

/*
 * cudal1_parse_response(response text)
 * RETURNS TABLE (analysis text, design text, code text, reason text)
 */
Datum
cudal1_parse_response(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum		values[4];
	bool		nulls[4] = {true, true, true, true};
	const char *reason = "the response is empty";

	InitMaterializedSRF(fcinfo, 0);
	if (!PG_ARGISNULL(0))
		reason = parse_response(PG_GETARG_TEXT_PP(0), values, nulls);
	values[3] = CStringGetTextDatum(reason);
	nulls[3] = reason[0] == '\0';
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	return (Datum) 0;
}
