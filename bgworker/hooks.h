/*
 * What ordinary sessions do for the workers: wake them at commit, and make room when their database is dropped.
 */
#ifndef CUDAL1_HOOKS_H
#define CUDAL1_HOOKS_H

extern void cudal1_hooks_install(void);

#endif							/* CUDAL1_HOOKS_H */
