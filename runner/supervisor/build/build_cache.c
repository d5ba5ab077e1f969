/*
 * build_cache.c
 *		What CUDA's compilers and code that compiles itself have built, kept for the next
 *		measurement of the same code.
 *
 * An entry is a folder under the scratch root, found by the hash of its key, which is the code and
 * all that builds it. Builds write to a folder of their own measurement; the supervisor keeps what
 * they left after the last of them, and hands it out as hard links, read-only in the sandbox. So
 * code can reach no entry but the one that it alone could have made, and that one only as it was
 * when its build had ended. The entries used longest ago go when all take more than a limit.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/build/build.h"

#define CACHE_KILOBYTES	(1 << 20)
#define ENTRY_KILOBYTES	(CACHE_KILOBYTES / 4)
#define ENTRY_FILES		4096
#define NEW_PREFIX		".new-"

/* the root of all entries, made if need be; false where it is not ours alone */
static bool
cache_root(const Measure *m, char *root, size_t size)
{
	struct stat st;

	if ((size_t) snprintf(root, size, "%s/cudal1-builds-%u", m->options->scratch,
						  (unsigned) geteuid()) >= size
		|| (mkdir(root, 0700) != 0 && errno != EEXIST))
		return false;
	return lstat(root, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid()
		&& (st.st_mode & 077) == 0;
}

bool
build_cache_folder(const Measure *m, const char *name, char *path, size_t size)
{
	char		root[PATH_MAX];

	path[0] = '\0';
	if (!cache_root(m, root, sizeof(root))
		|| (size_t) snprintf(path, size, "%s/%s", root, name) >= size
		|| (mkdir(path, 0700) != 0 && errno != EEXIST))
		path[0] = '\0';
	return path[0] != '\0';
}

/* Path of a key's entry, which has the key's SHA-256 for its name; false: it can't be told. */
static bool
entry_path(const Measure *m, const char *root, const char *key, char *path, size_t size)
{
	char		file[PATH_MAX + 16];
	char		command[PATH_MAX + 32];
	char		hash[65];

	snprintf(file, sizeof(file), "%s/key", m->scratch);
	unlink(file);
	snprintf(command, sizeof(command), "sha256sum <'%s'", file);
	return text_write(file, key) && text_first_line(command, hash, sizeof(hash))
		&& (size_t) snprintf(path, size, "%s/%s", root, hash) < size;
}

/* The key of what is built of a side's code. */
static char *
make_key(Measure *m, Side side, const char *kind)
{
	const Job  *job = m->job;
	json_t	   *key = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i}", "runner", CUDAL1_VERSION, "kind",
								kind, "code", m->code[side]->source,
								"task", m->backend->module ? job->reference : "",
								"python", m->backend->module ? m->options->python : "",
								"cores", job->cores);
	static const char *const tools[] = {"compiler", "torch"};
	char	   *text;

	for (int i = 0; i < 2; i++)
		if (json_object_get(m->environment, tools[i]))
			json_object_set(key, tools[i], json_object_get(m->environment, tools[i]));
	if (m->backend->builds.key)
		m->backend->builds.key(m, key);
	text = json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(key);
	return text;
}

/* Links a folder's files; false: it is not there, or takes more than an entry may. */
static bool
link_tree(const char *from, const char *to)
{
	char		command[3 * PATH_MAX];
	char		said[16];

	snprintf(command, sizeof(command), "exec 2>/dev/null; from='%s'; "
			 "test $(du -sk \"$from\" | cut -f1) -le %d && "
			 "test $(find \"$from\" | wc -l) -le %d && cp -rlT \"$from\" '%s' && echo", from,
			 ENTRY_KILOBYTES, ENTRY_FILES, to);
	return text_first_line(command, said, sizeof(said));
}

bool
build_cache_find(Measure *m, Side side, const char *kind)
{
	Built	   *built = &m->code[side]->built;
	json_t	   *kept = json_object_get(m->environment, "kept_builds");
	char		root[PATH_MAX];
	char		entry[PATH_MAX + 66];

	built->key = make_key(m, side, kind);
	if (!built->key || !cache_root(m, root, sizeof(root))
		|| !entry_path(m, root, built->key, entry, sizeof(entry)))
		return false;
	if (!link_tree(entry, built->folder))
	{
		/* there is none, or another measurement removed it in this moment */
		remove_tree(built->folder);
		return false;
	}
	utimensat(AT_FDCWD, entry, NULL, 0);
	free(built->key);
	built->key = NULL;
	if (!kept)
		json_object_set_new(m->environment, "kept_builds", kept = json_array());
	json_array_append_new(kept, json_string(side == SIDE_REFERENCE ? "reference" : "candidate"));
	return true;
}

/*
 * Removes the entries used longest ago, until all fit, and what a measurement that was killed has
 * left.
 */
static void
make_room(const char *root)
{
	char		command[PATH_MAX + 256];
	char		said[64];

	snprintf(command, sizeof(command),
			 "cd '%s' && find . -maxdepth 1 -name '" NEW_PREFIX "*' -mmin +60 -exec rm -rf {} + ; "
			 "ls -dt [0-9a-f]* | xargs -r du -sk | awk '{all += $1} all > %d {print $2}' | "
			 "xargs -r rm -rf", root, CACHE_KILOBYTES);
	text_first_line(command, said, sizeof(said));
}

void
build_cache_keep(Measure *m, Built *built)
{
	char		root[PATH_MAX];
	char		entry[PATH_MAX + 66];
	char		fresh[PATH_MAX + 40];
	char		path[PATH_MAX + 64];
	bool		good = built->key && !built->in_part && cache_root(m, root, sizeof(root))
		&& entry_path(m, root, built->key, entry, sizeof(entry));

	free(built->key);
	built->key = NULL;
	if (!good)
		return;
	snprintf(fresh, sizeof(fresh), "%s/" NEW_PREFIX "XXXXXX", root);
	if (!mkdtemp(fresh))
		return;
	snprintf(path, sizeof(path), "%s/content", fresh);
	/*
	 * in one step: an entry is whole or not there; one that another measurement has just made is as
	 * good
	 */
	if (link_tree(built->folder, path))
		rename(path, entry);
	remove_tree(fresh);
	make_room(root);
}
