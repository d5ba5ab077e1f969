/*
 * device.h
 *		The device that is measured on: which it is, its locks, and what of it a result tells.
 */
#ifndef CUDAL1_DEVICE_H
#define CUDAL1_DEVICE_H

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "supervisor/types.h"

/* before anything is started: which cores the device and all else use */
extern bool device_prepare(Measure *m);
extern bool device_take(Measure *m);	/* waits for the device's locks */
extern void device_release(Measure *m);
extern void device_list(const Options *options);
extern void device_versions(Measure *m);
extern void device_environment(Measure *m);

/* Adds a language, or a problem that keeps a device from being measured on; NULL: nothing. */
static inline void
device_note(json_t *list, const char *text)
{
	if (text)
		json_array_append_new(list, json_string(text));
}

/* prints the line of a device, and takes the last three */
static inline void
device_print(const char *key, const char *class, const char *model, json_t *languages,
			 json_t *problems, json_t *details)
{
	json_t	   *device = json_pack("{s:s, s:s, s:s, s:i, s:o, s:o}", "key", key, "class", class,
								   "model", model, "cores", 1, "languages", languages, "details",
								   details);
	char	   *line;

	json_object_set_new(details, "problems", problems);
	line = json_dumps(device, JSON_COMPACT | JSON_PRESERVE_ORDER);
	puts(line);
	free(line);
	json_decref(device);
}

/* cores.c: which cores of a host its devices use, and which all else */

extern bool cores_parse(const char *list, cpu_set_t *cores);
extern int	cores_device(const cpu_set_t *allowed, int number, int gpus);
extern int	cores_keep_off(const cpu_set_t *allowed, const cpu_set_t *own, int gpus);

/* light.c: bytes that a core reads or writes in a second, and its float32 operations; in 0.1 s */
extern double light_bandwidth(void);
extern double light_peak(void);

#endif							/* CUDAL1_DEVICE_H */
