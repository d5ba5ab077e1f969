/*
 * response.c
 *		Takes apart what a model answered to a contrastive prompt.
 *
 * Models keep to the demanded form only roughly, and a good kernel should not be lost to a missing
 * colon or backtick.  So the parser is generous about marks and strict about substance: all three
 * sections must be there, and the code must be complete.  docs/trainers.md has the grammar.
 *
 * An answer is read once, line by line, and a block of code by its strings and comments, because
 * a fence within a docstring is code.  This reading believes the fences.  Only if it finds no
 * complete answer, a second one lets a heading within a fence end it, because models forget to
 * close one.
 *
 * Models first sketch, then write, then show how to compile and test.  The code is the block that
 * defines the task's entry.  No list of sections or blocks is kept: what is
 * chosen among them is known when each ends.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "codeblock.h"

PG_FUNCTION_INFO_V1(cudal1_parse_response);

typedef enum SectionKind
{
	SECTION_NONE = -1,
	SECTION_ANALYSIS,
	SECTION_DESIGN,
	SECTION_CODE,
} SectionKind;

static const char *const section_titles[] = {
	"Performance Analysis", "Algorithm Design", "Code Implementation"
};

typedef struct Section
{
	const char *start;			/* behind the title; NULL: there is none */
	const char *end;
} Section;

/* how likely a block is to be the code */
typedef enum Rank
{
	RANK_EMPTY,
	RANK_PROSE,					/* labelled as something else than code */
	RANK_CODE,
	RANK_OTHER_ENTRY,			/* defines the entry, but is prose or the original code */
	RANK_ENTRY,					/* defines the entry, or broke off before it could */
} Rank;

typedef struct Block
{
	char		mark;			/* backtick or tilde */
	int			length;			/* number of marks */
	int			column;			/* of the marks, 0 behind words */
	bool		quoted;			/* each line begins with > */
	bool		prose;			/* labelled as something else than code */
	bool		original;		/* introduced as the code that was to be improved */
	bool		closed;
	bool		defines;		/* it holds a definition of the entry */
	Rank		rank;
	const char *start;			/* NULL: there is no block */
	const char *end;
} Block;

/* the last block of the highest rank that is at least half as long as the longest of that rank */
typedef struct Choice
{
	Block		block;
	ptrdiff_t	longest;
} Choice;

typedef struct Reading
{
	const char *start;			/* behind the reasoning */
	const char *end;
	bool		believing;		/* whether fences are believed to be closed */
	bool		cut;			/* a reasoning does not end */
	const char *entry;			/* NULL: ModelNew or solve */
	CodeScan	code_scan;

	SectionKind current;
	Section		last[3];		/* of each kind */
	Choice		in_section;		/* among the blocks of the current section of code */
	Choice		anywhere;		/* among all blocks */

	Section		chosen[3];		/* the section of code that ranks highest, and those before it */
	Block		code;
} Reading;

static const char *
trim_end(const char *p, const char *end)
{
	while (end > p && is_blank(end[-1]))
		end--;
	return end;
}

/* the first place with the word, in capitals or not; NULL: none */
static const char *
find_word(const char *p, const char *end, const char *word)
{
	for (; p < end; p++)
		if (begins(p, end, word))
			return p;
	return NULL;
}

static bool
has_one_of(const char *p, const char *end, const char *const *words, int nwords)
{
	for (int i = 0; i < nwords; i++)
		if (find_word(p, end, words[i]) != NULL)
			return true;
	return false;
}

static bool
begins_with_one_of(const char *p, const char *end, const char *const *words, int nwords)
{
	for (int i = 0; i < nwords; i++)
		if (begins(p, end, words[i]))
			return true;
	return false;
}

/* ---- reasoning ---- */

/*
 * Tags of reasoning that are not of the form <name> ... </name>.  Those of chat templates arrive as
 * special tokens.  alone: the closing tag says by itself that what is before it was reasoning.
 */
static const struct
{
	const char *opening;
	const char *closing;
	bool		alone;
}			reasoning_tags[] = {
	{"[THINK]", "[/THINK]", true},
	{"\xE2\x97\x81think\xE2\x96\xB7", "\xE2\x97\x81/think\xE2\x96\xB7", true},
	{"<|channel|>analysis", "<|channel|>final<|message|>", true},
	{"<|start|>assistant<|channel|>analysis", "<|channel|>final<|message|>", true},
	{"<|channel>thought", "<channel|>", true},
	{"<|inner_prefix|>", "<|inner_suffix|>", true},
	{"<unused94>thought", "<unused95>", true},
	{"<details type=\"reasoning\"", "</details>", false},
	{"Here is my thought process:", "Here is my response:", false},
	{"Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]", true},
	{"<|think|>", "<|content|>", false},
};

typedef struct Tag
{
	bool		closing;
	const char *other;			/* the closing tag of an opening one of the table */
	const char *name;			/* of another tag, from the word that speaks of reasoning */
	int			name_length;
} Tag;

/*
 * The length of a tag at p, 0 if there is none.  Besides those of the table, each <name> is one
 * whose name speaks of reasoning: <think>, <mm:think>, <|START_THINKING|>, <|begin_of_thought|>.
 */
static int
match_tag(const char *p, const char *end, Tag *tag)
{
	static const char *const words[] = {"think", "thought", "reason", "reflect", "scratchpad",
		"monologue"};
	const char *name = p + 1;
	const char *stop;

	*tag = (Tag) {0};
	if (p == end || strchr("<[Hh\xE2", *p) == NULL)
		return 0;
	for (int i = 0; i < lengthof(reasoning_tags); i++)
	{
		if (begins(p, end, reasoning_tags[i].opening))
		{
			tag->other = reasoning_tags[i].closing;
			return strlen(reasoning_tags[i].opening);
		}
		if (reasoning_tags[i].alone && begins(p, end, reasoning_tags[i].closing))
		{
			tag->closing = true;
			tag->other = reasoning_tags[i].closing;
			return strlen(reasoning_tags[i].closing);
		}
	}
	if (*p != '<')
		return 0;
	if (name < end && *name == '|')
		name++;
	tag->closing = begins(name, end, "/") || begins(name, end, "end");
	for (stop = name; stop < end && stop - name < 40 && (is_name(*stop) || strchr(":-/", *stop));)
		stop++;
	for (int i = 0; i < lengthof(words) && tag->name == NULL; i++)
		tag->name = find_word(name, stop, words[i]);
	if (tag->name == NULL)
		return 0;
	tag->name_length = stop - tag->name;
	if (stop < end && *stop == '|')
		stop++;
	return stop < end && *stop == '>' ? stop + 1 - p : 0;
}

/* behind the closing tag of an opening one, the first from p on; NULL: there is none */
static const char *
find_closing(const char *p, const char *end, const Tag *opening)
{
	if (opening->other != NULL)
		return (p = find_word(p, end, opening->other)) ? p + strlen(opening->other) : NULL;
	for (; (p = memchr(p, '<', end - p)) != NULL; p++)
	{
		Tag			tag;
		int			length = match_tag(p, end, &tag);

		if (length > 0 && tag.closing && tag.name_length == opening->name_length &&
			pg_strncasecmp(tag.name, opening->name, tag.name_length) == 0)
			return p + length;
	}
	return NULL;
}

/*
 * Behind the closing tag of a reasoning whose opening tag is in the prompt.  The tag begins or ends
 * the line, or is one of the table's; within a block it is the whole line.  NULL: there is none.
 */
static const char *
match_closing_line(const char *line, const char *stop, bool whole)
{
	const char *first = skip_blanks(line, stop);

	for (const char *p = first; p < stop && (p == first || !whole); p++)
	{
		Tag			tag;
		const char *behind = p + match_tag(p, stop, &tag);

		if (behind > p && tag.closing && ((p == first && !whole) || (tag.other && !whole) ||
			(skip_blanks(behind, stop) == stop && strchr("`'\"", p[-1]) == NULL)))
			return behind;
	}
	return NULL;
}

/* ---- headings ---- */

/* the end of a title at p; blanks, hyphens or underscores part its words. NULL: there is none */
static const char *
match_title(const char *p, const char *end, const char *title)
{
	for (; *title; title++)
	{
		if (*title == ' ')
		{
			const char *word = p;

			while (word < end && (is_blank(*word) || strchr("-_\xC2\xA0", *word) != NULL))
				word++;
			if (word == p)
				return NULL;
			p = word;
		}
		else if (p >= end || pg_strncasecmp(p++, title, 1) != 0)
			return NULL;
	}
	return p < end && is_word(*p) ? NULL : p;
}

/* the section whose title is at p, *after behind it */
static SectionKind
find_title(const char *p, const char *end, const char **after)
{
	for (int kind = SECTION_CODE; kind >= SECTION_ANALYSIS; kind--)
		if ((*after = match_title(p, end, section_titles[kind])) != NULL)
			return kind;
	return SECTION_NONE;
}

/*
 * Behind a word at p that may stand before a title: a number, a short one with a mark behind it as
 * "III." or "A)", one that counts.  Two other words may stand there in a heading of Markdown.
 * NULL: the line is no heading.
 */
static const char *
skip_counter(const char *p, const char *end, bool hashed, int *others)
{
	static const char *const words[] = {"step", "part", "section", "phase", "stage"};
	const char *stop = p;
	const char *next;

	while (stop < end && is_word(*stop))
		stop++;
	next = skip_blanks(stop, end);
	if (!is_letter(*p) || begins_with_one_of(p, stop, words, lengthof(words)) ||
		(stop - p <= 4 && next < end && (IS_HIGHBIT_SET(*next) || strchr(".):-", *next) != NULL)))
		return stop;
	return hashed && (*others)++ < 2 ? stop : NULL;
}

/*
 * The section that the line is a heading of.  Marks, numbers and emoji may stand before the title,
 * marks and a colon or dash behind it.  Without any mark the title must be alone on its line.
 * *rest is where the section's text begins, NULL where the line is </title>, which ends a section;
 * *hashed says whether the heading is one in Markdown, or a tag.
 */
static SectionKind
match_heading(const char *p, const char *end, const char **rest, bool *hashed)
{
	/* a colon of full width, and dashes */
	static const char *const wide[] = {"\xEF\xBC\x9A", "\xE2\x80\x93", "\xE2\x80\x94"};
	bool		marked = false;
	bool		colon = false;
	bool		closes = false;
	int			others = 0;
	const char *after;
	SectionKind kind;

	*hashed = false;
	for (;;)
	{
		for (; p < end && !is_word(*p); p++)
		{
			const char *tag = *p == '<' ? memchr(p, '>', Min(end - p, 40)) : NULL;

			/* a tag of HTML, or a special token, unless it is <title> or </title> */
			if (tag && find_title(p + 1 + (p[1] == '/'), tag, &after) == SECTION_NONE)
				p = tag;
			else if (tag)
				closes = p[1] == '/';
			*hashed |= *p == '#' || tag != NULL;
			marked |= tag != NULL || strchr("#*_>", *p) != NULL;
			if (!*hashed && !is_blank(*p) && !IS_HIGHBIT_SET(*p) &&
				strchr("*_>().:-+[]{}\\`|=~", *p) == NULL)
				return SECTION_NONE;
		}
		if ((kind = find_title(p, end, &after)) != SECTION_NONE)
			break;
		if (p == end || (p = skip_counter(p, end, *hashed, &others)) == NULL)
			return SECTION_NONE;
	}

	while (after < end && (is_blank(*after) || strchr("*_#:->}", *after) != NULL ||
						   begins_with_one_of(after, end, wide, lengthof(wide))))
	{
		colon |= *after == ':' || IS_HIGHBIT_SET(*after) ||
			(*after == '-' && is_blank(after[-1]));
		after += IS_HIGHBIT_SET(*after) ? 3 : 1;
	}
	/* a longer title counts, too: "## Algorithm Design Considerations" */
	*rest = closes ? NULL : after;
	while (after < end && !is_word(*after))
		after++;
	return after == end || (marked && (*hashed || colon)) ? kind : SECTION_NONE;
}

/* ---- blocks ---- */

/* behind the marks of lists and quotes */
static const char *
skip_prefix(const char *p, const char *end, bool *quoted)
{
	for (;;)
	{
		const char *mark = p = skip_blanks(p, end);

		while (mark < end && *mark >= '0' && *mark <= '9')
			mark++;
		if (mark < end && *mark == '>' && mark == p)
			*quoted = true;
		else if (mark + 1 >= end || strchr(mark > p ? ".)" : "-*+", *mark) == NULL ||
				 !is_blank(mark[1]))
			return p;
		p = mark + 1;
	}
}

/* whether a label of a block says that it holds something else than code of a candidate */
static bool
is_prose_label(const char *label, int length)
{
	static const char labels[] =
	" asm assembly bash bat cmake console csv diff dockerfile gas ini json log make makefile"
	" markdown md meson nasm ninja none objdump output plain plaintext powershell ps1 ptx sass sh"
	" shell shellsession sql text toml txt xml x86asm yaml yml zsh ";
	char	   *word = psprintf(" %.*s ", Min(length, 20), label);

	return length > 0 && find_word(labels, labels + strlen(labels), word) != NULL;
}

/*
 * Whether the line opens a block.  The marks stand first, or behind words, if nothing but a label
 * follows.  Code may follow the label on its line.
 */
static bool
match_fence(const char *line, const char *stop, const char *end, Block *block)
{
	static const char *const code[] = {"import ", "from ", "def ", "class ", "@", "#include",
		"#define", "#pragma", "extern ", "void ", "static ", "typedef ", "template", "using ",
	"__global__"};
	const char *first;
	const char *marks;
	const char *label;
	const char *rest;

	*block = (Block) {0};
	marks = first = skip_prefix(line, stop, &block->quoted);
	if (marks == stop || *marks != '~' || count_marks(marks, stop, '~') < 3)
		while (marks < stop && count_marks(marks, stop, '`') < 3)
			marks++;
	if (marks == stop)
		return false;
	block->mark = *marks;
	block->length = count_marks(marks, stop, *marks);
	label = rest = skip_blanks(marks + block->length, stop);
	/* ```x``` is code within a line */
	if (block->mark == '`' && memchr(label, '`', stop - label) != NULL)
		return false;
	while (rest < stop && (is_name(*rest) || strchr("+-", *rest) != NULL))
		rest++;
	if (marks > first && (skip_blanks(rest, stop) < stop ||
						  (rest == label && strchr(":*", trim_end(line, marks)[-1]) == NULL)))
		return false;
	block->prose = is_prose_label(label, rest - label);
	block->column = marks > first ? 0 : marks - line;
	block->end = end;
	rest = skip_blanks(rest, stop);
	if (begins_with_one_of(label, stop, code, lengthof(code)))
		block->start = label;
	else if (begins_with_one_of(rest, stop, code, lengthof(code)))
		block->start = rest;
	else
		block->start = Min(stop + 1, end);
	return true;
}

/*
 * Whether marks within a block open the next one, so that the end of this one was forgotten: a
 * label is all that follows them, and the next line holds something that is no heading.
 */
static bool
reopens(const char *label, const char *end)
{
	const char *stop = line_end(label, end);
	const char *p = label;

	while (p < stop && (is_name(*p) || *p == '+'))
		p++;
	if (p == label || skip_blanks(p, stop) < stop || stop == end)
		return false;
	p = skip_blanks(stop + 1, end);
	return p < end && *p != '\n' && !begins(p, end, "##");
}

/* finds the end of a block; returns where the answer is read on */
static const char *
read_block(Reading *reading, Block *block)
{
	const char *end = reading->end;
	const char *line = block->start;

	while (line < end)
	{
		const char *stop = line_end(line, end);
		const char *p = skip_blanks(line, stop);
		const char *rest;
		bool		hashed;
		bool		ends = match_closing_line(line, stop, true) != NULL;

		CHECK_FOR_INTERRUPTS();
		if (!reading->believing)
			ends |= match_heading(line, stop, &rest, &hashed) > reading->current && hashed;
		if (ends)
		{
			block->end = line;
			return line;
		}
		if (block->quoted && p < stop && *p == '>')
			p = skip_blanks(p + 1, stop);
		if (count_marks(p, stop, block->mark) >= block->length &&
			(block->quoted || p - line <= block->column + 3))
		{
			rest = p + count_marks(p, stop, block->mark);
			block->closed = true;
			block->end = line;
			return reopens(rest, end) ? p : rest;
		}
		if (reading->believing && !block->prose)
			stop = cudal1_code_skip_line(&reading->code_scan, line, block->mark,
									 block->length);
		if (stop < end && *stop != '\n')
		{
			block->closed = true;
			block->end = trim_end(line, stop);
			return stop + count_marks(stop, end, block->mark);
		}
		line = stop + 1;
	}
	return end;
}

/* ---- the choice among blocks ---- */

static bool
is_empty(const char *p, const char *end)
{
	return skip_lines(p, end) == end;
}

static void
rank_block(Block *block, const char *entry)
{
	static const char *const usual[] = {"ModelNew", "solve"};
	const char *const *entries = entry ? &entry : usual;
	int			n = entry ? 1 : lengthof(usual);
	bool		named = false;

	for (int i = 0; i < n; i++)
	{
		block->defines |= cudal1_code_defines(block->start, block->end, entries[i]);
		named |= !block->closed && find_word(block->start, block->end, entries[i]) != NULL;
	}
	if (is_empty(block->start, block->end))
		block->rank = RANK_EMPTY;
	else if (block->defines)
		block->rank = block->prose || block->original ? RANK_OTHER_ENTRY : RANK_ENTRY;
	else
		block->rank = block->prose ? RANK_PROSE : RANK_CODE;
	/* A block that breaks off may have become the code, unless it used the code that is there. */
	if (block->rank == RANK_CODE && !block->closed && !named)
		block->rank = RANK_ENTRY;
}

static void
consider_block(Choice *choice, const Block *block)
{
	ptrdiff_t	length = block->end - block->start;

	if (choice->block.start == NULL || block->rank > choice->block.rank)
		*choice = (Choice) {*block, length};
	else if (block->rank == choice->block.rank)
	{
		choice->longest = Max(choice->longest, length);
		if (2 * length >= choice->longest || (!block->closed && block->defines))
			choice->block = *block;
	}
}

/* a block's code without its indentation: that of its marks, or its first line's if it is less */
static text *
block_code(const Block *block)
{
	StringInfoData code;
	const char *end = block->end;
	const char *first = skip_lines(block->start, end);
	int			indent = block->column;

	for (int column = 0; !block->quoted && column < indent; column++)
		if (first - column == block->start || first[-column - 1] == '\n')
			indent = column;
	initStringInfo(&code);
	if (end > block->start && end[-1] == '\n')
		end--;
	for (const char *line = block->start, *stop; line <= end; line = stop + 1)
	{
		const char *p = line;

		stop = line_end(line, end);
		if (block->quoted && (p = skip_blanks(line, stop)) < stop && *p == '>')
			p += p + 1 < stop && p[1] == ' ' ? 2 : 1;
		else
			for (p = line; p < stop && p - line < indent && is_blank(*p);)
				p++;
		if (line > block->start)
			appendStringInfoChar(&code, '\n');
		appendBinaryStringInfo(&code, p, stop - p);
	}
	return cstring_to_text_with_len(code.data, code.len);
}

/* ---- the answer as a whole ---- */

/* whether words that introduce a block say that it is the code from before */
static bool
introduces_original(const char *p, const char *end)
{
	static const char *const old[] = {"original", "reference", "baseline", "instead of", "previous",
		"old ", "given code", "you gave", "naive", "before:", "compared to", "compared with"};
	static const char *const new[] = {"optimi", "improv", "faster", "new ", "final", "replace"};

	return has_one_of(p, end, old, lengthof(old)) && !has_one_of(p, end, new, lengthof(new));
}

/* ends the current section, and chooses it if it is the best one of code */
static void
end_section(Reading *reading, const char *where)
{
	if (reading->current != SECTION_NONE)
		reading->last[reading->current].end = where;
	if (reading->current == SECTION_CODE &&
		(reading->chosen[SECTION_CODE].start == NULL ||
		 reading->in_section.block.rank >= reading->code.rank))
	{
		memcpy(reading->chosen, reading->last, sizeof(reading->chosen));
		reading->code = reading->in_section.block;
	}
	reading->current = SECTION_NONE;
}

static void
scan_answer(const char *text, const char *end, Reading *reading)
{
	Section		intro = {text, text};	/* the last line with words */
	const char *stop = text - 1;

	for (const char *line = text; line < end;)
	{
		const char *p = skip_blanks(line, end);
		const char *rest;
		bool		hashed;
		SectionKind kind;
		Block		block;
		Tag			tag;
		int			length = match_tag(p, end, &tag);

		CHECK_FOR_INTERRUPTS();
		/* channels whose special tokens the server removed: "analysisWe need", "assistantfinal" */
		if (p == text && is_at(p, Min(p + 8, end), "analysis") && end - p > 8 &&
			p[8] >= 'A' && p[8] <= 'Z')
		{
			tag.other = "assistantfinal";
			length = 8;
		}
		if (length > 0 && !tag.closing)
		{
			rest = find_closing(p + length, end, &tag);
			if (rest == NULL)
			{
				reading->cut = true;
				reading->end = line;
				break;
			}
			if (is_empty(reading->start, line))
				reading->start = rest;
			line = rest;
			continue;
		}
		/* a line of many tags has one end */
		if (line > stop)
			stop = line_end(line, end);
		rest = match_closing_line(line, stop, false);
		if (rest != NULL)
		{
			*reading = (Reading) {
				.start = rest,.end = end,.code_scan = {end},.entry = reading->entry,
				.believing = reading->believing,.current = SECTION_NONE
			};
			line = rest;
			continue;
		}
		kind = match_heading(line, stop, &rest, &hashed);
		if (kind != SECTION_NONE)
		{
			end_section(reading, line);
			if (rest != NULL)
			{
				reading->current = kind;
				reading->last[kind].start = rest;
				reading->in_section = (Choice) {0};
			}
			/* marks may follow the title */
			line = rest ? Max(rest, line + 1) : stop + 1;
			continue;
		}
		if (match_fence(line, stop, end, &block))
		{
			if (block.column == 0 && p < stop && *p != block.mark)
				intro = (Section) {line, stop};
			block.original = introduces_original(intro.start, intro.end);
			line = read_block(reading, &block);
			rank_block(&block, reading->entry);
			consider_block(&reading->anywhere, &block);
			if (reading->current == SECTION_CODE)
				consider_block(&reading->in_section, &block);
			intro = (Section) {line, line};
			continue;
		}
		if (p < stop)
			intro = (Section) {line, stop};
		line = stop + 1;
	}
	end_section(reading, reading->end);
}

/* without blank lines before and blanks after */
static text *
trimmed_text(const Section *section)
{
	const char *start = skip_lines(section->start, section->end);
	const char *end = section->end;

	while (start > section->start && is_blank(start[-1]))
		start--;
	while (end > start && (is_blank(end[-1]) || end[-1] == '\n'))
		end--;
	return cstring_to_text_with_len(start, end - start);
}

/* line ends of all systems become newlines; a mark of the byte order goes */
static char *
unify_line_ends(const text *response)
{
	const char *from = VARDATA_ANY(response);
	int			length = VARSIZE_ANY_EXHDR(response);
	char	   *unified = palloc(length + 2);
	char	   *to = unified;

	/* a newline before the answer, so that there is a character before each place in it */
	*to++ = '\n';
	for (int i = length >= 3 && memcmp(from, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; i < length; i++)
	{
		if (from[i] != '\r')
			*to++ = from[i];
		else if (i + 1 >= length || from[i + 1] != '\n')
			*to++ = '\n';
	}
	*to = '\0';
	return unified + 1;
}

/* the code that was chosen, or the text of its section; NULL: *problem says why there is none */
static text *
read_code(const Block *block, const Section *section, const char **problem)
{
	text	   *bare = NULL;

	if (block->rank > RANK_EMPTY)
	{
		if (block->closed)
			return block_code(block);
		*problem = "the code fence is not closed: the answer was cut off";
		return NULL;
	}
	if (block->start == NULL && section != NULL)
		bare = trimmed_text(section);
	if (bare != NULL && VARSIZE_ANY_EXHDR(bare) > 0)
		return bare;
	if (section != NULL)
		*problem = psprintf("section \"## %s\" holds no code", section_titles[SECTION_CODE]);
	else
		*problem = block->start != NULL ?
			"the response holds no code" : "the response has no fenced code";
	return NULL;
}

/* fills the columns analysis, design and code; returns why the answer is not complete, or "" */
static const char *
read_sections(const Reading *reading, Datum *values, bool *nulls)
{
	StringInfoData reason;

	initStringInfo(&reason);
	for (int kind = SECTION_ANALYSIS; kind <= SECTION_CODE; kind++)
	{
		/* the last one before the code, or else the last */
		const Section *section = &reading->chosen[kind];
		const char *problem = NULL;
		text	   *content = NULL;

		if (section->start == NULL)
			section = &reading->last[kind];
		if (section->start == NULL)
			problem = psprintf("section \"## %s\" is missing", section_titles[kind]);
		else if (kind == SECTION_CODE)
			content = read_code(&reading->code, section, &problem);
		else
			content = trimmed_text(section);
		if (problem != NULL)
			appendStringInfo(&reason, "%s%s", reason.len > 0 ? "; " : "", problem);
		nulls[kind] = content == NULL;
		values[kind] = PointerGetDatum(content);
	}
	return reason.data;
}

/* code_alone: any block will do, where the sections are not complete */
static const char *
read_answer(const Reading *reading, bool code_alone, Datum *values, bool *nulls)
{
	const char *reason;
	text	   *code;

	memset(nulls, true, 3 * sizeof(bool));
	if (reading->cut && is_empty(reading->start, reading->end))
		return "the reasoning block is not closed: the answer was cut off";
	if (is_empty(reading->start, reading->end))
		return "the response is empty";
	reason = read_sections(reading, values, nulls);
	if (reason[0] == '\0' || !code_alone)
		return reason;
	nulls[SECTION_ANALYSIS] = nulls[SECTION_DESIGN] = true;
	reason = "";
	code = read_code(&reading->anywhere.block, NULL, &reason);
	values[SECTION_CODE] = PointerGetDatum(code);
	nulls[SECTION_CODE] = code == NULL;
	return reason;
}

/* fills three columns; returns why the answer is not complete, or "" */
static const char *
parse_response(const text *response, bool code_alone, const char *entry, Datum *values,
			   bool *nulls)
{
	const char *unified = unify_line_ends(response);
	const char *end = unified + strlen(unified);
	const char *reason = "";

	for (int believing = 1; believing >= 0; believing--)
	{
		Reading		reading = {
			.start = unified,.end = end,.code_scan = {end},.entry = entry,
			.believing = believing,.current = SECTION_NONE
		};

		scan_answer(unified, end, &reading);
		reason = read_answer(&reading, code_alone, values, nulls);
		if (reason[0] == '\0')
			break;
	}
	return reason;
}

/*
 * cudal1_parse_response(response text [, code_alone boolean, entry text])
 * RETURNS TABLE (analysis text, design text, code text, reason text)
 */
Datum
cudal1_parse_response(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		code_alone = PG_NARGS() > 1 && !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	char	   *entry = PG_NARGS() > 2 && !PG_ARGISNULL(2) ?
		text_to_cstring(PG_GETARG_TEXT_PP(2)) : NULL;
	Datum		values[4];
	bool		nulls[4] = {true, true, true, true};
	const char *reason = "the response is empty";

	InitMaterializedSRF(fcinfo, 0);
	if (!PG_ARGISNULL(0))
		reason = parse_response(PG_GETARG_TEXT_PP(0), code_alone, entry, values, nulls);
	values[3] = CStringGetTextDatum(reason);
	nulls[3] = reason[0] == '\0';
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	return (Datum) 0;
}
