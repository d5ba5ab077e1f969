/*
 * codeblock.c
 *		What stands in a block of code of an answer: the strings and comments that hide marks,
 *		and the definition of a task's entry.
 *
 * The code is of Python, C or CUDA, and its label may lie, so nothing here asks for the language.
 * Text that languages read differently, as a hash, is read so that a block rather ends too early
 * than never.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "codeblock.h"

/*
 * Behind a string or comment over several lines that begins at p; p itself if none begins.  What
 * does not end is none, because a block that it swallowed would be lost.
 */
static const char *
skip_long(CodeScan *scan, const char *p)
{
	static const char *const openings[] = {"\"\"\"", "\'\'\'", "/*", "R\""};
	const char *end = scan->end;
	const char *from;
	const char *found;
	char		closing[20] = "*/";
	int			kind = 0;

	while (kind < lengthof(openings) && !begins(p, end, openings[kind]))
		kind++;
	if (kind == lengthof(openings) || scan->missing[kind])
		return p;
	from = p + strlen(openings[kind]);
	if (kind < 2)
		strcpy(closing, openings[kind]);
	else if (kind == 3)
	{
		/* a raw string of C++: R"name( ... )name" */
		while (from < end && is_name(*from) && from - p < 16)
			from++;
		if (from == end || *from != '(')
			return p;
		snprintf(closing, sizeof(closing), ")%.*s\"", (int) (from - p) - 2, p + 2);
	}
	found = memmem(from, end - from, closing, strlen(closing));
	scan->missing[kind] = found == NULL;
	return found ? found + strlen(closing) : p;
}

/* behind a string within a line, or at the line's end */
static const char *
skip_string(const char *p, const char *end)
{
	char		quote = *p++;

	for (; p < end && *p != '\n'; p++)
	{
		if (*p == '\\' && p + 1 < end && p[1] != '\n')
			p++;
		else if (*p == quote)
			return p + 1;
	}
	return p;
}

/*
 * The end of a line of code, which a string may have moved to another line, or the first marks in
 * it that end a block of so many marks.
 */
const char *
cudal1_code_skip_line(CodeScan *scan, const char *line, char mark, int length)
{
	const char *end = scan->end;
	const char *p = skip_blanks(line, end);

	if (begins(p, end, "#") || begins(p, end, "//"))
		return line_end(p, end);
	while (p < end && *p != '\n')
	{
		/* the star behind a name is that of a path, src/ *.c */
		const char *behind = *p == '/' && p > line && is_name(p[-1]) ? p : skip_long(scan, p);

		if (behind > p)
			p = behind;
		else if (*p == '"' || *p == '\'')
			p = skip_string(p, end);
		else if (*p == '`' && mark == '`' && count_marks(p, end, '`') >= length)
			return p;
		else
			p++;
	}
	return p;
}

/* whether a line of Python defines the name by a class, a function or an assignment */
static bool
defined_in_line(const char *p, const char *end, const char *name)
{
	const char *line = p;
	bool		keyword;

	while (p < end && (is_blank(*p) || *p == '>'))
		p++;
	keyword = is_at(p, end, "class") || is_at(p, end, "def");
	if (keyword)
		p = skip_blanks(p + (*p == 'c' ? 5 : 3), end);
	else if (p > line)
		return false;
	if (!is_at(p, end, name) || keyword)
		return keyword && is_at(p, end, name);
	p = skip_blanks(p + strlen(name), end);
	if (end - p < 2 || p[0] != '=' || p[1] == '=')
		return false;
	/* ModelNew = load("solution.py").ModelNew uses the code that is there */
	while (p < end && (is_name(p[-1]) || !is_at(p, end, name)))
		p++;
	return p == end;
}

/* whether the text has a definition of the name, as in Python or in C */
bool
cudal1_code_defines(const char *start, const char *end, const char *name)
{
	bool		named = false;	/* behind the name of a function that may be defined here */
	int			depth = 0;		/* of brackets since then */
	char		last = '\0';

	for (const char *p = start; p < end; p++)
	{
		if (p == start || p[-1] == '\n')
		{
			const char *stop = line_end(p, end);

			CHECK_FOR_INTERRUPTS();
			if (defined_in_line(p, stop, name))
				return true;
		}
		if (begins(p, end, "//"))
			p = line_end(p, end) - 1;
		else if (named && depth == 0 && last == ')' && *p == '{')
			return true;
		else if (*p == ';' || *p == '{' || *p == '}')
			named = false;
		else if (is_at(p, end, name) && !is_name(p[-1]))
		{
			named = true;
			depth = 0;
		}
		depth += (*p == '(') - (*p == ')');
		if (!is_name(*p) && !is_blank(*p) && *p != '\n')
			last = *p;
	}
	return false;
}
