/*
 * hooks.h
 *		Hooks by which sessions wake workers at commit, and send them away from a database.
 */
#ifndef CUDAL1_HOOKS_H
#define CUDAL1_HOOKS_H

extern void cudal1_hooks_install(void);

#endif							/* CUDAL1_HOOKS_H */
