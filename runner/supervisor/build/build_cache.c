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
#include <limits.h>
#include <sys/stat.h>

#include "supervisor/build/build.h"

#define CACHE_KILOBYTES	(1 << 20)
#define ENTRY_KILOBYTES	(CACHE_KILOBYTES / 4)
#define ENTRY_FILES		4096

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

/*
 * Runs a command of the shell for a build that has a key: $folder is the build's, $root that of all
 * entries, and $entry that of the key, whose SHA-256 is its name. fits() tells whether a folder
 * takes no more than an entry may. False: the command fails, or writes nothing
 */
static bool
run(const Measure *m, const Built *built, const char *command)
{
	char		root[PATH_MAX];
	char		file[PATH_MAX + 16];
	char		text[4 * PATH_MAX];
	char		said[16];

	snprintf(file, sizeof(file), "%s/key", m->scratch);
	unlink(file);
	if (!built->key || !cache_root(m, root, sizeof(root)) || !text_write(file, built->key))
		return false;
	snprintf(text, sizeof(text), "exec 2>/dev/null; folder='%s' root='%s' most=%d; "
			 "entry=$root/$(sha256sum <'%s' | cut -c -64); fits() { "
			 "test $(du -sk \"$1\" | cut -f1) -le %d && test $(find \"$1\" | wc -l) -le %d; }; %s",
			 built->folder, root, CACHE_KILOBYTES, file, ENTRY_KILOBYTES, ENTRY_FILES, command);
	return text_first_line(text, said, sizeof(said));
}

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

bool
build_cache_find(Measure *m, Side side, const char *kind)
{
	Built	   *built = &m->code[side]->built;
	json_t	   *kept = json_object_get(m->environment, "kept_builds");

	built->key = make_key(m, side, kind);
	if (!run(m, built, "fits \"$entry\" && cp -rlT \"$entry\" \"$folder\" && touch \"$entry\" && "
			 "echo"))
	{
		/* there is none, or another measurement removed it in this moment */
		remove_tree(built->folder);
		return false;
	}
	free(built->key);
	built->key = NULL;
	if (!kept)
		json_object_set_new(m->environment, "kept_builds", kept = json_array());
	json_array_append_new(kept, json_string(side == SIDE_REFERENCE ? "reference" : "candidate"));
	return true;
}

/*
 * An entry appears in one step, whole; one that another measurement has just made is as good. Then
 * the entries used longest ago go, until all fit, and what a measurement that was killed has left.
 */
void
build_cache_keep(Measure *m, Built *built)
{
	if (!built->in_part)
		run(m, built, "new=$(mktemp -d \"$root/.new-XXXXXX\") && fits \"$folder\" && "
			"cp -rlT \"$folder\" \"$new/content\" && mv -T \"$new/content\" \"$entry\"; "
			"chmod -R u+rwX \"$new\"; rm -rf \"$new\"; cd \"$root\" && "
			"find . -maxdepth 1 -name '.new-*' -mmin +60 -exec rm -rf {} + ; "
			"ls -dt [0-9a-f]* | xargs -r du -sk | awk -v most=$most '{all += $1} all > most "
			"{print $2}' | xargs -r rm -rf");
	free(built->key);
	built->key = NULL;
}
