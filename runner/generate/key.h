/*
 * key.h
 *		Keys of endpoints.
 */
#ifndef CUDAL1_KEY_H
#define CUDAL1_KEY_H

extern const char *key_file;	/* NULL: keys are in the environment */

/* malloc'd; NULL: there is none, for the problem */
extern char *key_find(const char *name, const char **problem);

#endif							/* CUDAL1_KEY_H */
