/*
 * text.h
 *		Text that other processes wrote, made fit for a database.
 */
#ifndef CUDAL1_TEXT_H
#define CUDAL1_TEXT_H

#include <stddef.h>

/* bytes of the valid UTF-8 character at data, of which `left` bytes are there; 0: none */
extern size_t text_character(const char *data, size_t left);

/*
 * copies at most `length` bytes up to the first NUL into `out` of `size` bytes; "?" replaces
 * control characters and what is not UTF-8
 */
extern void text_clean(char *out, size_t size, const char *in, size_t length);

#endif							/* CUDAL1_TEXT_H */
