/*
 * cores.c
 *		Which devices get which threads of hosts with and without two threads a core: none shares a
 *		core where there are enough.
 */
#define _GNU_SOURCE
#define CUDAL1_SIBLINGS "siblings-%d"
#include "../../runner/supervisor/device/cores.c"

#include <string.h>
#include <unistd.h>

#include "tap.h"

/*
 * the kernel's files for a host whose threads i and i + `apart` share a core; 0: there are no files
 */
static cpu_set_t
host(int threads, int apart)
{
	cpu_set_t	allowed;

	CPU_ZERO(&allowed);
	for (int i = 0; i < threads; i++)
	{
		char		name[32];
		FILE	   *file;
		int			low = apart > 0 && i / apart % 2 == 1 ? i - apart : i;

		CPU_SET(i, &allowed);
		snprintf(name, sizeof(name), "siblings-%d", i);
		unlink(name);
		file = apart > 0 ? fopen(name, "w") : NULL;
		if (file)
		{
			fprintf(file, apart == 1 ? "%d-%d\n" : "%d,%d\n", low, low + apart);
			fclose(file);
		}
	}
	return allowed;
}

static bool
devices(const cpu_set_t *allowed, int gpus, const char *expected)
{
	char		found[256] = "";

	for (int i = 0; i <= gpus; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%d", i > 0 ? " " : "",
				 cores_device(allowed, i, gpus));
	if (strcmp(found, expected) != 0)
		printf("# got %s, expected %s\n", found, expected);
	return strcmp(found, expected) == 0;
}

static bool
others(const cpu_set_t *allowed, const char *own, int gpus, const char *expected)
{
	cpu_set_t	mine;
	cpu_set_t	left;
	cpu_set_t	wanted;

	cores_parse(own, &mine);
	cores_others(allowed, &mine, gpus, &left);
	if (!cores_parse(expected, &wanted))
		CPU_ZERO(&wanted);
	for (int i = 0; !CPU_EQUAL(&left, &wanted) && i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &left))
			printf("# left: %d\n", i);
	return CPU_EQUAL(&left, &wanted);
}

int
main(void)
{
	char		folder[] = "/tmp/cudal1-cores-XXXXXX";
	cpu_set_t	cores;
	cpu_set_t	allowed;

	if (!mkdtemp(folder) || chdir(folder) != 0)
		return 1;

	check(cores_parse("1", &cores) && CPU_COUNT(&cores) == 1 && CPU_ISSET(1, &cores),
		  "a list of one");
	check(cores_parse("2-3,6", &cores) && CPU_COUNT(&cores) == 3 && CPU_ISSET(2, &cores)
		  && CPU_ISSET(3, &cores) && CPU_ISSET(6, &cores),
		  "a list of a range and one");
	check(!cores_parse("", &cores) && !cores_parse("a", &cores) && !cores_parse("1-", &cores)
		  && !cores_parse("3-2", &cores)
		  && !cores_parse("-1", &cores) && !cores_parse("1;2", &cores)
		  && !cores_parse("1024", &cores), "what is no list is refused");

	allowed = host(16, 0);
	check(devices(&allowed, 2, "15 14 13"), "threads that the kernel says nothing of are cores");
	check(others(&allowed, "14", 2, "0-12"), "their supervisors keep off all devices'");
	allowed = host(16, 1);
	check(devices(&allowed, 2, "15 13 11"), "neighbouring threads share a core: devices do not");
	check(others(&allowed, "13", 2, "0-9"), "nor do supervisors with any device");
	allowed = host(16, 8);
	check(devices(&allowed, 4, "15 14 13 12 11"), "the same where the second threads come last");
	check(others(&allowed, "14", 4, "0-2,8-10"), "nor do supervisors there");
	allowed = host(16, 1);
	check(devices(&allowed, 8, "15 14 13 12 11 10 9 8 7"),
		  "with fewer cores than devices and one more, devices share them");
	check(others(&allowed, "14", 8, "0-13"),
		  "and supervisors, which would be too many for the rest, keep off their own's alone");
	allowed = host(4, 1);
	check(devices(&allowed, 1, "3 2"),
		  "two cores for two devices and the rest: the devices have one of them");
	check(others(&allowed, "2", 1, "0-1"), "the rest the other");
	check(others(&allowed, "3", 0, "0-1"), "a CPU device there has a core");
	check(others(&allowed, "0-2", 0, "3"), "one of three threads leaves the fourth");
	allowed = host(2, 1);
	check(devices(&allowed, 0, "1") && others(&allowed, "1", 0, "0"),
		  "two threads of one core are shared out as they are");
	check(devices(&allowed, 1, "1 0") && others(&allowed, "0", 1, "1"), "also with a GPU");
	allowed = host(1, 0);
	check(devices(&allowed, 1, "0 0") && others(&allowed, "0", 1, ""),
		  "a host of one thread leaves nothing");

	/* takes the files away */
	host(16, 0);
	if (chdir("/") == 0)
		rmdir(folder);
	return done();
}
