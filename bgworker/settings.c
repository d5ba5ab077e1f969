/*
 * settings.c
 *		The settings of the workers.
 *
 * Every process that loads the library defines them, preloaded or not, so that each refuses a
 * misspelt name.  They are PGC_SIGHUP, because a session's own value could not reach a worker.  The
 * exception is cudal1.certify: SQL functions read it by current_setting() in the session that
 * claims jobs, which may be an agent's, so no C code reads its variable.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port.h"
#include "utils/guc.h"
#include "utils/varlena.h"

#include "settings.h"
#include "shared.h"
#include "supervise/supervise.h"

char	   *cudal1_databases = NULL;
bool		cudal1_enabled = true;
char	   *cudal1_devices = NULL;
char	   *cudal1_measure_path = NULL;
char	   *cudal1_scratch_dir = NULL;
char	   *cudal1_python = NULL;
char	   *cudal1_generate_path = NULL;
char	   *cudal1_ca_file = NULL;
char	   *cudal1_key_file = NULL;
int			cudal1_max_requests = 256;
int			cudal1_prefetch = 1;
int			cudal1_lease_seconds = 60;
int			cudal1_idle_poll = 2000;
int			cudal1_child_grace = 120;
bool		cudal1_allow_unsandboxed = false;
static bool cudal1_certify = true;

static bool
check_databases(char **newval, void **extra, GucSource source)
{
	char	   *raw = pstrdup(*newval);
	List	   *names;

	if (!SplitIdentifierString(raw, ',', &names))
	{
		GUC_check_errdetail("It must be a list of database names, separated by commas.");
		GUC_check_errhint("Quote names that contain capitals or special characters.");
		return false;
	}
	if (list_length(names) > CUDAL1_MAX_DATABASES)
	{
		GUC_check_errdetail("At most %d databases can have a worker.", CUDAL1_MAX_DATABASES);
		return false;
	}
	return true;
}

static bool
check_devices(char **newval, void **extra, GucSource source)
{
	List	   *keys;

	if (!SplitGUCList(pstrdup(*newval), ',', &keys) || keys == NIL)
	{
		GUC_check_errdetail("It must be \"auto\" or a list of device keys, separated by commas,"
							" for instance \"cpu:1\".");
		return false;
	}
	return true;
}

/* empty or absolute, because a relative path would be relative to the data directory */
static bool
check_path(char **newval, void **extra, GucSource source)
{
	if ((*newval)[0] != '\0' && !is_absolute_path(*newval))
	{
		GUC_check_errdetail("It must be an absolute path.");
		return false;
	}
	if (strlen(*newval) >= MAXPGPATH)
	{
		GUC_check_errdetail("The path is too long (maximum %d characters).", MAXPGPATH - 1);
		return false;
	}
	return true;
}

/* a path, or empty for what is the usual one */
static void
define_path(const char *name, const char *what, const char *more, char **value)
{
	DefineCustomStringVariable(name, what, more, value, "", PGC_SIGHUP, GUC_SUPERUSER_ONLY,
							   check_path, NULL, NULL);
}

/* Workers alone read all but the first: a session can't set them, and a reload changes them. */
void
cudal1_settings_define(void)
{
	DefineCustomBoolVariable("cudal1.certify",
							 "Whether idle devices check references.",
							 "A reference is checked as soon as a device has nothing else to do."
							 " The check also shows whether the task tells work from the lack of"
							 " it. A task's option \"certify\" takes precedence.",
							 &cudal1_certify, true, PGC_USERSET, 0, NULL, NULL, NULL);

	/* databases with a worker, and the work of one */
	DefineCustomStringVariable("cudal1.databases", "Databases that have a worker.",
							   "A list of names, separated by commas.",
							   &cudal1_databases, "postgres", PGC_SIGHUP, GUC_LIST_INPUT,
							   check_databases, NULL, NULL);
	DefineCustomBoolVariable("cudal1.enabled", "Lets workers begin measurements.",
							 "When off, running measurements are finished and no others begin, and"
							 " no requests are sent to language models.",
							 &cudal1_enabled, true, PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("cudal1.idle_poll",
							"Time between two looks at the queue when nothing wakes the worker.",
							NULL, &cudal1_idle_poll, 2000, 100, 3600000, PGC_SIGHUP, GUC_UNIT_MS,
							NULL, NULL, NULL);
	DefineCustomIntVariable("cudal1.lease_seconds",
							"Time after which a measurement without a sign of life is given to"
							" another worker.",
							NULL, &cudal1_lease_seconds, 60, 5, 86400, PGC_SIGHUP, GUC_UNIT_S,
							NULL, NULL, NULL);

	/* limits of a measurement, and of what candidates may do */
	DefineCustomBoolVariable("cudal1.allow_unsandboxed",
							 "Lets candidates run where no sandbox can be set up.",
							 "Candidate code then runs with the rights of the server's operating"
							 " system user.",
							 &cudal1_allow_unsandboxed, false, PGC_SIGHUP, GUC_SUPERUSER_ONLY,
							 NULL, NULL, NULL);
	DefineCustomIntVariable("cudal1.child_grace",
							"Time that a measuring program may take beyond the limits of its"
							" profile.",
							NULL, &cudal1_child_grace, 120, 1, 86400, PGC_SIGHUP, GUC_UNIT_S,
							NULL, NULL, NULL);
	DefineCustomStringVariable("cudal1.devices", "Devices of this host to measure on.",
							   "\"auto\" means all that cudal1-measure --devices finds; else a list"
							   " of their keys.",
							   &cudal1_devices, "auto", PGC_SIGHUP, GUC_LIST_INPUT, check_devices,
							   NULL, NULL);
	define_path("cudal1.measure_path", "Path of cudal1-measure.",
				"Empty means the one beside the server's programs.", &cudal1_measure_path);
	DefineCustomIntVariable("cudal1.prefetch",
							"Candidates that may be built ahead on each device while another is"
							" measured.",
							NULL, &cudal1_prefetch, 1, 0, 16, PGC_SIGHUP, 0, NULL, NULL, NULL);
	define_path("cudal1.python", "Python interpreter for tasks in PyTorch.",
				"Empty leaves the choice to cudal1-measure.", &cudal1_python);
	define_path("cudal1.scratch_dir", "Directory for the working files of measurements.",
				"Empty means the system's directory for temporary files.", &cudal1_scratch_dir);

	/* requests to language models */
	define_path("cudal1.ca_file",
				"Certificates of the authorities that may certify the endpoints of language"
				" models.",
				"PEM; empty means the system's. The certificate of an endpoint is always checked.",
				&cudal1_ca_file);
	define_path("cudal1.generate_path", "Path of cudal1-generate.",
				"Empty means the one beside the server's programs.", &cudal1_generate_path);
	define_path("cudal1.key_file", "File with the keys of language models.",
				"A line NAME = key each; it must not be readable by others.", &cudal1_key_file);
	DefineCustomIntVariable("cudal1.max_requests",
							"Most requests to language models in flight at once.",
							"0 sends none. Each model has its own limit besides.",
							&cudal1_max_requests, 256, 0, 10000, PGC_SIGHUP, 0, NULL, NULL, NULL);
	MarkGUCPrefixReserved("cudal1");
}

List *
cudal1_settings_databases(void)
{
	List	   *names = NIL;

	if (cudal1_databases != NULL)
		(void) SplitIdentifierString(pstrdup(cudal1_databases), ',', &names);
	return names;
}

bool
cudal1_settings_allow_device(const char *key)
{
	List	   *keys = NIL;
	ListCell   *cell;

	(void) SplitGUCList(pstrdup(cudal1_devices), ',', &keys);
	foreach(cell, keys)
	{
		if (strcmp(lfirst(cell), "auto") == 0 || strcmp(lfirst(cell), key) == 0)
			return true;
	}
	return false;
}

char *
cudal1_settings_program(const char *path, const char *name)
{
	char		folder[MAXPGPATH];

	if (path[0] != '\0')
		return pstrdup(path);
	strlcpy(folder, my_exec_path, MAXPGPATH);
	get_parent_directory(folder);
	return psprintf("%s/%s", folder, name);
}

char *
cudal1_settings_scratch(void)
{
	const char *fallback = getenv("TMPDIR");

	if (cudal1_scratch_dir[0] != '\0')
		return pstrdup(cudal1_scratch_dir);
	return pstrdup(fallback != NULL && is_absolute_path(fallback) ? fallback : "/tmp");
}
