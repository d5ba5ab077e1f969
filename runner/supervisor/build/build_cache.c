/*
 * build_cache.c
 *		What CUDA's compilers and code that compiles itself have built, kept for the next
 *		measurement of the same code.
 *
 * An entry is a folder under the scratch root, found by a hash and believed only if the whole key,
 * the code and all that builds it, is the same text. Builds write to a folder of their own
 * measurement; the supervisor keeps what they left after the last of them, and hands it out as hard
 * links, read-only in the sandbox. So code can reach no entry but the one that it alone could have
 * made, and that one only as it was when its build had ended. The entries used longest ago go when
 * all take more than a limit.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/text.h"
#include "supervisor/build/build.h"

#define CACHE_BYTES		((off_t) 1 << 30)
#define ENTRY_BYTES		(CACHE_BYTES / 4)
#define ENTRY_FILES		4096
#define ENTRY_DEPTH		16
#define ABANDONED_SECONDS	3600
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

/* Path of a key's entry: two FNV-1a hashes will do, because the key itself is compared, too. */
static void
entry_path(const char *root, const char *key, char *path, size_t size)
{
	uint64_t	a = 0xcbf29ce484222325,
				b = 0x84222325cbf29ce4;

	for (const unsigned char *c = (const unsigned char *) key; *c; c++)
	{
		a = (a ^ *c) * 0x100000001b3;
		b = (b ^ (*c + 1)) * 0x100000001b3;
	}
	snprintf(path, size, "%s/%016llx%016llx", root, (unsigned long long) a, (unsigned long long) b);
}

char *
build_cache_key(Measure *m, const char *kind, Side side)
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

/* copying a tree as hard links, plain files and folders only; nftw has no room for a context */
static const char *tree_from;
static const char *tree_to;
static off_t tree_bytes;
static int	tree_files;

static int
link_one(const char *path, const struct stat *st, int type, struct FTW *level)
{
	char		to[2 * PATH_MAX];

	snprintf(to, sizeof(to), "%s%s", tree_to, path + strlen(tree_from));
	if (++tree_files > ENTRY_FILES || level->level > ENTRY_DEPTH
		|| (tree_bytes += st->st_size) > ENTRY_BYTES)
		return -1;
	if (type == FTW_D)
		return mkdir(to, 0700);
	return type == FTW_F && S_ISREG(st->st_mode) ? link(path, to) : 0;
}

static bool
link_tree(const char *from, const char *to)
{
	tree_from = from;
	tree_to = to;
	tree_bytes = 0;
	tree_files = 0;
	return nftw(from, link_one, 16, FTW_PHYS) == 0;
}

static int
add_size(const char *path, const struct stat *st, int type, struct FTW *level)
{
	tree_bytes += st->st_size;
	return 0;
}

static bool
same_key(const char *entry, const char *key)
{
	char		path[PATH_MAX + 64];
	size_t		length = strlen(key);
	char	   *found = malloc(length + 1);
	int			fd;
	bool		same;

	snprintf(path, sizeof(path), "%s/key", entry);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	same = found && fd >= 0 && read(fd, found, length + 1) == (ssize_t) length
		&& memcmp(found, key, length) == 0;
	if (fd >= 0)
		close(fd);
	free(found);
	return same;
}

bool
build_cache_find(Measure *m, const char *key, const char *folder)
{
	char		root[PATH_MAX];
	char		entry[PATH_MAX + 40];
	char		content[PATH_MAX + 64];

	if (!key || !cache_root(m, root, sizeof(root)))
		return false;
	entry_path(root, key, entry, sizeof(entry));
	snprintf(content, sizeof(content), "%s/content", entry);
	if (!same_key(entry, key))
		return false;
	if (!link_tree(content, folder))
	{
		/* another measurement removed it in this moment */
		remove_tree(folder);
		return false;
	}
	utimensat(AT_FDCWD, entry, NULL, 0);
	return true;
}

typedef struct Entry
{
	char		name[40];
	off_t		bytes;
	struct timespec used;
} Entry;

static int
by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const Entry *) a)->used,
			   *y = &((const Entry *) b)->used;

	return x->tv_sec != y->tv_sec ? (x->tv_sec > y->tv_sec) - (x->tv_sec < y->tv_sec)
		: (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* the longest unused entries go until all fit; so does what somebody was killed over */
static void
make_room(const char *root)
{
	DIR		   *folder = opendir(root);
	struct dirent *found;
	Entry	   *entries = NULL;
	size_t		n = 0;
	off_t		all = 0;

	while (folder && (found = readdir(folder)) != NULL)
	{
		char		path[PATH_MAX + 300];
		struct stat st;
		Entry	   *more;

		snprintf(path, sizeof(path), "%s/%s", root, found->d_name);
		if (strncmp(found->d_name, NEW_PREFIX, strlen(NEW_PREFIX)) == 0)
		{
			if (lstat(path, &st) == 0 && time(NULL) - st.st_mtime > ABANDONED_SECONDS)
				remove_tree(path);
			continue;
		}
		if (found->d_name[0] == '.' || strlen(found->d_name) >= sizeof(entries->name)
			|| lstat(path, &st) != 0)
			continue;
		more = realloc(entries, (n + 1) * sizeof(Entry));
		if (!more)
			break;
		entries = more;
		tree_bytes = 0;
		nftw(path, add_size, 16, FTW_PHYS);
		strcpy(entries[n].name, found->d_name);
		entries[n].bytes = tree_bytes;
		entries[n++].used = st.st_mtim;
		all += tree_bytes;
	}
	if (folder)
		closedir(folder);
	if (n > 0)
		qsort(entries, n, sizeof(Entry), by_use);
	for (size_t i = 0; i < n && all > CACHE_BYTES; i++)
	{
		char		path[PATH_MAX + 64];

		snprintf(path, sizeof(path), "%s/%s", root, entries[i].name);
		remove_tree(path);
		all -= entries[i].bytes;
	}
	free(entries);
}

void
build_cache_keep(Measure *m, const char *key, const char *folder)
{
	char		root[PATH_MAX];
	char		entry[PATH_MAX + 40];
	char		fresh[PATH_MAX + 40];
	char		path[PATH_MAX + 64];
	bool		good;

	if (!key || !cache_root(m, root, sizeof(root)))
		return;
	entry_path(root, key, entry, sizeof(entry));
	snprintf(fresh, sizeof(fresh), "%s/" NEW_PREFIX "XXXXXX", root);
	if (!mkdtemp(fresh))
		return;
	snprintf(path, sizeof(path), "%s/key", fresh);
	good = text_write(path, key);
	snprintf(path, sizeof(path), "%s/content", fresh);
	/*
	 * in one step: an entry is whole or not there; one that another measurement has just made is as
	 * good
	 */
	if (!good || !link_tree(folder, path) || rename(fresh, entry) != 0)
		remove_tree(fresh);
	make_room(root);
}
