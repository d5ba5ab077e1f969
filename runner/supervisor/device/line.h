/*
 * line.h
 *		The line of a device that cudal1-measure --devices prints.
 */
#ifndef CUDAL1_DEVICE_LINE_H
#define CUDAL1_DEVICE_LINE_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* Adds a language, or a problem that keeps a device from being measured on. */
static inline void
device_note(json_t *list, const char *text)
{
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

#endif							/* CUDAL1_DEVICE_LINE_H */
