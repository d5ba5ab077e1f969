/*
 * text.h
 *		Text read from files and programs, and text of other processes made fit for a database.
 */
#ifndef CUDAL1_TEXT_H
#define CUDAL1_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Copies at most `length` bytes, up to the first NUL. "?" replaces what is not UTF-8, control
 * characters but tabs and ends of lines, and those that change the direction of writing.
 */
extern void text_clean(char *out, size_t size, const char *in, size_t length);

/*
 * a copy fit for JSON and a database, malloc'd, with a NUL behind it: U+FFFD replaces NUL, what is
 * not UTF-8, and the JSON escapes of NUL and of lone surrogates. NULL: no memory
 */
extern char *text_repair(const char *data, size_t length, size_t *repaired_length);

/* the rest of a file, and a NUL, to be freed; NULL: errno, EFBIG where it is above `limit` bytes */
extern char *text_read(FILE *file, size_t limit, size_t *length);

/* whether an extended regular expression matches anywhere in a text */
extern bool text_matches(const char *text, const char *expression, bool any_case);

/* makes a file that is not there yet, for its owner alone; false: errno says why */
extern bool text_write(const char *path, const char *text);

/* the first line that a command of the shell writes; false: it fails, or writes none */
extern bool text_first_line(const char *command, char *text, size_t size);

#endif							/* CUDAL1_TEXT_H */
