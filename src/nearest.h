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

#endif							/* CUDAL1_NEAREST_H */
