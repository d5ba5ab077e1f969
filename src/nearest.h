/*
 * nearest.h
 *		The name that a mistyped one may have meant.
 */
#ifndef CUDAL1_NEAREST_H
#define CUDAL1_NEAREST_H

/*
 * A question like: Did you mean "a"?  It has the nearest of the n names, which are in the server's
 * encoding; NULL where none is near.
 */
extern char *cudal1_nearest_words(const char *name, const char *const *names, int n);

/*
 * The number of the row with this name, in a table of n rows of `size` bytes that begin with their
 * names; else an error about the `kind`, whose hint ends with `valid`.
 */
extern int	cudal1_nearest_row(const char *kind, const char *name, const void *table, int n,
							   size_t size, const char *valid);

#endif							/* CUDAL1_NEAREST_H */
