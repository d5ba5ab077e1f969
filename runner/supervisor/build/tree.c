/*
 * tree.c
 *		Takes a folder away, with whatever code has made of it.
 *
 * Code that compiles itself may write into a folder, and wants to leave something: folders without
 * a mode by which they could be entered, or nested until no path names the innermost. So none is
 * used: the way goes down by descriptor and up by "..", one folder open at a time, and a folder is
 * entered only as what it was when it was found. Nothing is remembered of a folder but which one it
 * is, since what was removed is gone when it is read again; only of those that resist is a list.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/build/tree.h"

typedef struct Place
{
	dev_t		device;
	ino_t		number;
} Place;

typedef struct Places
{
	Place	   *v;
	size_t		n;
	size_t		size;
} Places;

typedef struct Removal
{
	/* the folders from the top to the one that is open, itself included */
	Places		above;
	Place		from;			/* the folder that was left last, upwards */
	Places		left;			/* what can't be removed */
} Removal;

static bool
add(Places *places, Place place)
{
	if (places->n == places->size)
	{
		size_t		size = places->size ? 2 * places->size : 64;
		Place	   *v = realloc(places->v, size * sizeof(Place));

		if (!v)
			return false;
		places->v = v;
		places->size = size;
	}
	places->v[places->n++] = place;
	return true;
}

static bool
same(Place a, Place b)
{
	return a.device == b.device && a.number == b.number;
}

static bool
contains(const Places *places, Place place)
{
	for (size_t i = 0; i < places->n; i++)
		if (same(places->v[i], place))
			return true;
	return false;
}

static bool
place_of(int fd, const char *name, Place *place)
{
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0)
		return false;
	*place = (Place) {st.st_dev, st.st_ino};
	return true;
}

/* a folder, whatever its mode; -1 */
static int
enter(int fd, const char *name)
{
	fchmodat(fd, name, 0700, AT_SYMLINK_NOFOLLOW);
	return openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/*
 * Removes what can be removed at once from the open folder. A folder that is not empty ends it: a
 * descriptor of that one, or -1 where nothing but what resists is left.
 */
static int
clear(int fd, Removal *r)
{
	/* a descriptor of its own, whose place in the folder no one else moves */
	int			own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR		   *folder = own >= 0 ? fdopendir(own) : NULL;
	struct dirent *entry;
	int			found = -1;
	bool		removed = true;

	if (!folder && own >= 0)
		close(own);
	/* reading while removing may pass over some */
	while (folder && found < 0 && removed)
	{
		removed = false;
		rewinddir(folder);
		while (found < 0 && (entry = readdir(folder)) != NULL)
		{
			Place		place;

			if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
				continue;
			if (unlinkat(fd, entry->d_name, 0) == 0
				|| unlinkat(fd, entry->d_name, AT_REMOVEDIR) == 0)
			{
				removed = true;
				continue;
			}
			if (!place_of(fd, entry->d_name, &place) || contains(&r->left, place))
				continue;
			if (place.device == r->above.v[0].device && !same(place, r->from))
				found = enter(fd, entry->d_name);
			if (found < 0 && !add(&r->left, place))
				break;
		}
	}
	if (folder)
		closedir(folder);
	return found;
}

/* empties an open folder, and closes it */
static void
empty(int fd)
{
	Removal		r = {.above = {NULL, 0, 0}};
	Place		place;
	bool		good = place_of(fd, "", &place) && add(&r.above, place);

	while (good)
	{
		int			next = clear(fd, &r);

		if (next >= 0)
		{
			good = place_of(next, "", &place) && add(&r.above, place);
			close(fd);
			fd = next;
			continue;
		}
		if (r.above.n == 1)
			break;
		/* up again: when the folder above is read, this one goes, or is one that resists */
		next = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		good = next >= 0 && place_of(next, "", &place) && same(place, r.above.v[r.above.n - 2]);
		if (next < 0)
			break;
		r.from = r.above.v[--r.above.n];
		close(fd);
		fd = next;
	}
	close(fd);
	free(r.above.v);
	free(r.left.v);
}

void
remove_tree(const char *path)
{
	int			fd;

	if (unlink(path) == 0 || rmdir(path) == 0)
		return;
	fd = enter(AT_FDCWD, path);
	if (fd >= 0)
		empty(fd);
	rmdir(path);
}
