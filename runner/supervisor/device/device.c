/*
 * device.c
 *		Devices of this host, and holding one.
 *
 * A CPU device is a set of reserved cores, "cpu:1" or "cpu:2-3". A measurement holds a flock on
 * the device's files for one measurement, whatever database asked: locks of a database would not
 * see each other, and a lock for a worker's life would starve everyone else. The supervisor keeps
 * to the other cores.
 */
#include <ctype.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "common/proc.h"
#include "supervisor/backend.h"
#include "supervisor/device/device.h"
#include "supervisor/gpu/cuda.h"

#define LOCK_MODE	0444
#define ARENA_SHARE	8				/* of the memory that code may have */

static const char *
cpu_model(void)
{
	static char model[256];

	if (!model[0]
		&& !text_first_line("sed -n 's/^model name.*: //p;T;q' /proc/cpuinfo", model,
							sizeof(model)))
		strcpy(model, "unknown CPU");
	return model;
}

/*
 * Opens the device's lock file in a folder. -1 where it is not there and can't be made, or after
 * conclude() where it is there and can't be opened. Other users must be able to open it, or they
 * would see no lock. Workers and agents start this program under a mask that would prevent that.
 */
static int
lock_file(Measure *m, const char *folder)
{
	char		path[512];
	size_t		length = (size_t) snprintf(path, sizeof(path), "%s/cudal1-", folder);
	struct stat st;
	int			fd;

	for (const char *c = m->device.key; *c && length < sizeof(path) - 6; c++)
		path[length++] = isalnum((unsigned char) *c) ? *c : '-';
	strcpy(path + length, ".lock");
	/* another user's file can be opened for reading, and a lock needs no more */
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
	{
		mode_t		mask = umask(0);

		fd = open(path, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, LOCK_MODE);
		umask(mask);
		if (fd < 0)
			fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd < 0 && lstat(path, &st) == 0)
		conclude(m, OUTCOME_LOST,
				 "the lock file %s can't be opened: %s; remove it while nobody measures", path,
				 strerror(errno));
	else if (fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0777) != LOCK_MODE)
		fchmod(fd, LOCK_MODE);
	return fd;
}

/* how many GPUs this host has, by their nodes: whatever is measured keeps off their cores */
static int
gpu_nodes(void)
{
	char		path[32];
	int			n = -1;

	do
		snprintf(path, sizeof(path), "/dev/nvidia%d", ++n);
	while (access(path, F_OK) == 0);
	return n;
}

bool
device_prepare(Measure *m)
{
	cpu_set_t	allowed,
				usable;
	const char *key = m->job->device_key;
	bool		gpu;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return conclude(m, OUTCOME_LOST, "sched_getaffinity: %s", strerror(errno));
	if (key)
		snprintf(m->device.key, sizeof(m->device.key), "%s", key);
	else
		snprintf(m->device.key, sizeof(m->device.key), "cpu:%d", cores_device(&allowed, 0, 0));
	if (!key && !backend_of(m->job->language, false))
		strcpy(m->device.key, "cuda");
	key = m->device.key;
	gpu = gpu_key(key);
	m->backend = backend_of(m->job->language, gpu);
	if (!m->backend)
		return conclude(m, OUTCOME_LOST, "tasks in %s are measured on %s, not on %s",
						language_facts[m->job->language].name, gpu ? "CPU devices" : "GPUs", key);
	if (gpu)
		return gpu_prepare(m, &allowed);
	m->device.array_bytes = (size_t) m->job->profile.memory_mb << 20;
	m->device.arena_bytes = m->device.array_bytes / ARENA_SHARE;
	if (strncmp(key, "cpu:", 4) != 0 || !cores_parse(key + 4, &m->device.cores))
		return conclude(m, OUTCOME_LOST, "this host has no device %s; cudal1-measure --devices "
						"prints those it has", key);
	CPU_AND(&usable, &m->device.cores, &allowed);
	if (!CPU_EQUAL(&usable, &m->device.cores))
		return conclude(m, OUTCOME_LOST, "device %s names cores that this process may not use; "
						"cudal1-measure --devices prints those it may", key);
	json_object_set_new(m->environment, "cores", json_string(key + 4));
	m->device.spare_core = cores_keep_off(&allowed, &m->device.cores, gpu_nodes()) > 0;
	if (CPU_COUNT(&m->device.cores) < m->job->cores)
		return conclude(m, OUTCOME_LOST, "the task asks for %d cores, device %s has %d; a device "
						"of more is written cpu:2-3", m->job->cores, key,
						CPU_COUNT(&m->device.cores));
	/* exactly as many as the task asks for */
	for (int i = CPU_SETSIZE - 1; i >= 0 && CPU_COUNT(&m->device.cores) > m->job->cores; i--)
		CPU_CLR(i, &m->device.cores);
	return true;
}

/*
 * Names the process that holds a lock file, for people who wonder why nothing goes on. The kernel
 * lists the holders; of one in another namespace of processes it tells nothing.
 */
static void
find_holder(Measure *m, int lock)
{
	FILE	   *locks = fopen("/proc/locks", "re");
	struct stat st;
	struct timespec now;
	char		line[512];
	unsigned long inode;
	ProcStat	holder;
	int			pid;

	m->device.held_by[0] = '\0';
	fstat(lock, &st);
	clock_gettime(CLOCK_BOOTTIME, &now);
	while (locks && fgets(line, sizeof(line), locks))
	{
		/* a process that waits for a lock has an arrow before the lock's kind */
		if (sscanf(line, "%*d: FLOCK %*s %*s %d %*[^:]:%*[^:]:%lu", &pid, &inode) != 2
			|| inode != st.st_ino || !proc_stat(pid, &holder))
			continue;
		for (char *c = holder.name; *c; c++)
			if (!isalnum((unsigned char) *c) && *c != '-' && *c != '_')
				*c = '?';
		snprintf(m->device.held_by, sizeof(m->device.held_by), "%s, process %d, begun %lld s ago",
				 holder.name, pid,
				 (long long) now.tv_sec - (long long) (holder.begun / sysconf(_SC_CLK_TCK)));
		break;
	}
	if (locks)
		fclose(locks);
}

static bool
take_lock(Measure *m, int lock)
{
	for (bool first = true; flock(lock, LOCK_EX | LOCK_NB) != 0; first = false)
	{
		if (errno != EWOULDBLOCK && errno != EINTR)
			return conclude(m, OUTCOME_LOST, "device %s can't be locked: %s", m->device.key,
							strerror(errno));
		if (executor_cancelled)
			return conclude(m, OUTCOME_CANCELLED, NULL);
		if (first || measure_progress_due())
			find_holder(m, lock);
		measure_progress(m, "waiting", first);
		clock_sleep(0.01);
	}
	m->device.held_by[0] = '\0';
	return true;
}

/*
 * Takes the locks of both folders, in this order. Some systems let root alone write to the first;
 * other users have the second alone.
 */
bool
device_take(Measure *m)
{
	static const char *const folders[DEVICE_LOCKS] = {"/run/lock", "/tmp"};
	bool		any = false;

	for (int i = 0; i < DEVICE_LOCKS; i++)
	{
		m->device.lock[i] = lock_file(m, folders[i]);
		if (m->result->outcome != OUTCOME_NONE
			|| (m->device.lock[i] >= 0 && !take_lock(m, m->device.lock[i])))
			return false;
		any = any || m->device.lock[i] >= 0;
	}
	if (!any)
		return conclude(m, OUTCOME_LOST, "the lock file of device %s can't be opened: %s",
						m->device.key, strerror(errno));
	m->device.locked_at = clock_now();
	return true;
}

void
device_release(Measure *m)
{
	for (int i = 0; i < DEVICE_LOCKS; i++)
	{
		if (m->device.lock[i] >= 0)
			close(m->device.lock[i]);
		m->device.lock[i] = -1;
	}
}

/* Finds what compiles or runs the code, before the device is taken, as it starts a program. */
void
device_versions(Measure *m)
{
	const BuildCalls *builds = &m->backend->builds;
	bool		python = m->backend->module;
	char		command[PATH_MAX + 128];
	char		version[256];

	/* -I: modules that lie in the folder we are in, or where the environment says, are anybody's */
	snprintf(command, sizeof(command), "'%s' -I -c 'import importlib.metadata as m, sys; "
			 "print(m.version(\"torch\"), \"python\", sys.version.split()[0])' 2>/dev/null",
			 m->options->python);
	if (text_first_line(python ? command : builds->version, version, sizeof(version)))
		json_object_set_new(m->environment, python ? "torch" : "compiler",
							json_sprintf("%s%s%s", python ? "" : builds->tool, python ? "" : " ",
										 version));
}

void
device_environment(Measure *m)
{
	struct utsname host;
	double		load[3] = {0};

	uname(&host);
	getloadavg(load, 3);
	if (m->backend->describe)
		m->backend->describe(m);
	json_object_update_new(m->environment, json_pack(
		"{s:s, s:s, s:s, s:s, s:f, s:s}", "runner", CUDAL1_VERSION, "host", host.nodename,
		"kernel", host.release, "cpu", cpu_model(), "load", round(load[0] * 100) / 100, "sandbox",
		m->options->unsandboxed ? "none" : sandbox_version()));
}

/* what keeps every measurement of this host from its verdict; NULL: nothing */
static const char *
host_problem(const Options *options)
{
	static char text[PATH_MAX + 200];

	if (access(options->scratch, R_OK | W_OK | X_OK) != 0)
	{
		snprintf(text, sizeof(text), "files can't be made in the scratch folder %s: %s; make it, "
				 "or set another (cudal1.scratch_dir, --scratch)", options->scratch,
				 strerror(errno));
		return text;
	}
	return options->unsandboxed ? NULL : sandbox_problem();
}

/* Tells what PyTorch needs for code that compiles itself, as candidates do, and does not find. */
static void
list_builders(const Options *options, json_t *problems)
{
	char		command[PATH_MAX + 256];
	char		missing[64];

	/* by the PATH of executors */
	snprintf(command, sizeof(command), "PATH=\"$(dirname '%s'):/usr/bin:/bin\"; echo $("
			 "for p in c++ ninja; do command -v $p >/dev/null || echo $p; done)", options->python);
	if (text_first_line(command, missing, sizeof(missing)) && missing[0])
		json_array_append_new(problems, json_sprintf(
			"no %s: PyTorch code that compiles itself fails; install the packages g++ and "
			"ninja-build", missing));
}

void
device_list(const Options *options)
{
	cpu_set_t	allowed;
	const char *problem = host_problem(options);
	json_t	   *languages = json_array();
	json_t	   *problems = json_array();
	json_t	   *details = json_object();
	char		text[512];
	char		torch[512] = "";
	char	   *torch_cuda = torch;
	char		command[PATH_MAX + 256];
	char		key[32];
	struct sysinfo memory;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	snprintf(key, sizeof(key), "cpu:%d", cores_device(&allowed, 0, 0));
	if (sysinfo(&memory) == 0)
		json_object_set_new(details, "memory_mb",
							json_integer((json_int_t) (memory.totalram * memory.mem_unit >> 20)));
	json_object_update_new(details, json_pack("{s:i, s:s, s:s, s:f, s:f}", "host_cores",
											  CPU_COUNT(&allowed), "runner", CUDAL1_VERSION,
											  "sandbox", options->unsandboxed ? "none"
											  : sandbox_version(), "bandwidth",
											  light_bandwidth(), "peak", light_peak()));
	if (CPU_COUNT(&allowed) < 2)
		device_note(problems, "only one core: measurements share it with the server; expect noise");
	device_note(problems, problem);
	for (int i = 0; i < LANGUAGES; i++)
	{
		const Backend *backend = backend_of(i, false);

		if (!backend || backend->module)
			continue;
		if (text_first_line(backend->builds.version, text, sizeof(text)))
		{
			json_object_set_new(details, backend->builds.tool, json_string(text));
			device_note(languages, problem ? NULL : language_facts[i].name);
			continue;
		}
		json_array_append_new(problems, json_sprintf(
			"no %1$s: tasks in %2$s can't be measured; install the package %1$s",
			backend->builds.tool, language_facts[i].name));
	}
	snprintf(command, sizeof(command), "'%s' -I -c 'import torch; print(torch.__version__, "
			 "torch.version.cuda or \"\")' 2>/dev/null", options->python);
	if (text_first_line(command, torch, sizeof(torch)))
	{
		torch_cuda = torch + strcspn(torch, " ");
		if (*torch_cuda)
			*torch_cuda++ = '\0';
		json_object_set_new(details, "torch", json_string(torch));
		json_object_set_new(details, "python", json_string(options->python));
		device_note(languages, problem ? NULL : "pytorch");
		list_builders(options, problems);
	}
	else
		json_array_append_new(problems, json_sprintf(
			"%s %s: tasks in pytorch can't be measured; install python3-torch or set "
			"cudal1.python", options->python,
			access(options->python, X_OK) == 0 ? "has no PyTorch" : "can't be run"));
	device_print(key, "cpu", cpu_model(), languages, problems, details);
	gpu_list(options, problem, torch, torch_cuda);
}
