/*
 * codeblock.h
 *		What the parser of answers asks about a block of code, and how it looks at characters.
 */
#ifndef CUDAL1_CODEBLOCK_H
#define CUDAL1_CODEBLOCK_H

/* kinds of strings and comments over several lines */
#define CODE_STRINGS 4

/* the end of a text, and kinds of strings that end nowhere: each is sought in vain only once */
typedef struct CodeScan
{
	const char *end;
	bool		missing[CODE_STRINGS];
} CodeScan;

extern const char *cudal1_code_skip_line(CodeScan *scan, const char *line, char mark, int length);
extern bool cudal1_code_defines(const char *start, const char *end, const char *name);

static inline bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static inline bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* a character of a number or a word in a heading */
static inline bool
is_word(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9');
}

/* a character of a name in code */
static inline bool
is_name(char c)
{
	return is_word(c) || c == '_';
}

static inline const char *
skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

static inline const char *
skip_lines(const char *p, const char *end)
{
	while (p < end && (is_blank(*p) || *p == '\n'))
		p++;
	return p;
}

static inline const char *
line_end(const char *p, const char *end)
{
	const char *newline = memchr(p, '\n', end - p);

	return newline ? newline : end;
}

/* whether the text at p begins with the word, in capitals or not */
static inline bool
begins(const char *p, const char *end, const char *word)
{
	size_t		length = strlen(word);

	return end - p >= length && pg_strncasecmp(p, word, length) == 0;
}

/* whether the word stands at p as a whole */
static inline bool
is_at(const char *p, const char *end, const char *word)
{
	size_t		length = strlen(word);

	return end - p >= length && strncmp(p, word, length) == 0 &&
		(p + length == end || !is_name(p[length]));
}

/* the length of the run of a mark at p */
static inline int
count_marks(const char *p, const char *end, char mark)
{
	const char *start = p;

	while (p < end && *p == mark)
		p++;
	return p - start;
}

#endif							/* CUDAL1_CODEBLOCK_H */
