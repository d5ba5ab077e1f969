/*
 * cores.h
 *		Which cores of a host its devices use, and which all else.
 */
#ifndef CUDAL1_CORES_H
#define CUDAL1_CORES_H

#include <sched.h>
#include <stdbool.h>

extern bool cores_parse(const char *list, cpu_set_t *cores);
extern int	cores_device(const cpu_set_t *allowed, int number, int gpus);
extern int	cores_keep_off(const cpu_set_t *allowed, const cpu_set_t *own, int gpus);

#endif
