/* kind: 25 exhaustion; task: vector; profile: small; outcome: successful, unstable, unverified
 * Takes memory in each way there is, and counts. Its answers are right only where no way gives more than a run may have, and the usual
 * one gives most of it. */
#define _GNU_SOURCE
#include "reference.c"
#include "shared/attempt.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIECE ((size_t) 8 << 20)
#define PIECES 256				/* two gigabytes */
#define MOST 32					/* what the profile says */

static int wrong, zeros, fd = -1;
static void *taken[PIECES];

static void judge(const char *how, int pieces, int least)
{
	if (pieces > MOST || pieces < least)
	{
		printf("%s: %d MiB\n", how, (int) (pieces * (PIECE >> 20)));
		wrong++;
	}
}

static int map_all(int flags, int protection, int later)
{
	int n = 0;

	for (; n < PIECES; n++)
	{
		taken[n] = mmap(NULL, PIECE, protection, flags | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
		if (taken[n] == MAP_FAILED)
			break;
		if (later && mprotect(taken[n], PIECE, later) != 0)
		{
			munmap(taken[n], PIECE);
			break;
		}
		*(volatile char *) taken[n] = 1;
	}
	for (int i = 0; i < n; i++)
		munmap(taken[i], PIECE);
	return n;
}

/* in a run no file is opened */
__attribute__((constructor)) static void begin(void)
{
	fd = open("/dev/zero", O_RDWR);
	zeros = map_all(MAP_SHARED, PROT_READ | PROT_WRITE, 0);
	fd = -1;
}

static int malloc_all(void)
{
	int n = 0;

	for (; n < PIECES && (taken[n] = malloc(PIECE)) != NULL; n++)
		memset(taken[n], 1, PIECE);
	for (int i = n - 1; i >= 0; i--)
		free(taken[i]);
	return n;
}

static int grow(void)
{
	void *p = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int n = p != MAP_FAILED;

	for (void *more; n > 0 && n < PIECES && (more = mremap(p, n * PIECE, (n + 1) * PIECE, MREMAP_MAYMOVE)) != MAP_FAILED; n++)
		p = more;
	if (n > 0)
		munmap(p, n * PIECE);
	return n;
}

static int attempt(void)
{
	judge("private", map_all(MAP_PRIVATE, PROT_READ | PROT_WRITE, 0), MOST / 2);
	judge("private, without reserve", map_all(MAP_PRIVATE | MAP_NORESERVE, PROT_READ | PROT_WRITE, 0), 0);
	judge("private, writable later", map_all(MAP_PRIVATE, PROT_NONE, PROT_READ | PROT_WRITE), 0);
	judge("as a stack", map_all(MAP_PRIVATE | MAP_STACK, PROT_READ | PROT_WRITE, 0), 0);
	judge("growing down", map_all(MAP_PRIVATE | MAP_GROWSDOWN, PROT_READ | PROT_WRITE, 0), 0);
	judge("growing down, writable later", map_all(MAP_PRIVATE | MAP_GROWSDOWN, PROT_NONE, PROT_READ | PROT_WRITE), 0);
	judge("shared", map_all(MAP_SHARED, PROT_READ | PROT_WRITE, 0), 0);
	/* the limit of these, which count as no data, is one of addresses, of which a gigabyte is to spare */
	judge("shared, of /dev/zero", zeros - (int) ((1 << 30) / PIECE), 0);
	judge("moved", grow(), 0);
	judge("allocated", malloc_all(), MOST / 2);
	return wrong;
}
