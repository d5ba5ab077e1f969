/*
 * settings.h
 *		The settings of the workers, prefix cudal1.
 *
 * Workers read these, and they change at a reload of the server's configuration.  Ordinary users
 * can't set any of them, because several name programs that the server runs.
 */
#ifndef CUDAL1_SETTINGS_H
#define CUDAL1_SETTINGS_H

#include "postgres.h"

#include "nodes/pg_list.h"

extern char *cudal1_databases;
extern bool cudal1_enabled;
extern char *cudal1_devices;
extern char *cudal1_measure_path;
extern char *cudal1_scratch_dir;
extern char *cudal1_python;
extern int	cudal1_prefetch;
extern int	cudal1_idle_poll;		/* milliseconds */
extern int	cudal1_child_grace;		/* seconds */
extern bool cudal1_allow_unsandboxed;
extern char *cudal1_generate_path;
extern char *cudal1_ca_file;
extern char *cudal1_key_file;
extern int	cudal1_max_requests;

extern void cudal1_settings_define(void);

/* names in cudal1.databases, palloc'd */
extern List *cudal1_settings_databases(void);

/* whether cudal1.devices allows this device */
extern bool cudal1_settings_allow_device(const char *key);

/* a setting's path, or that of the program beside the server's; the scratch directory; palloc'd */
extern char *cudal1_settings_program(const char *path, const char *name);
extern char *cudal1_settings_scratch(void);

#endif							/* CUDAL1_SETTINGS_H */
