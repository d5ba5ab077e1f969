/*
 * server.h
 *		What PostgreSQL gives its extensions, as far as their parsers ask for it: memory that goes with the input, and errors that end
 *		its reading. Everything else comes from libpgcommon, of which the server is made too.
 */
#include "postgres.h"

#include <setjmp.h>

#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/memutils.h"

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOLDS(condition) \
	do { if (!(condition)) { fprintf(stderr, "broken: %s\n", #condition); abort(); } } while (0)

/* memory: every piece in a list, so that the sanitizer sees each by itself */
typedef struct Piece
{
	struct Piece *next;
	struct Piece **before;
	void	   *unused;
	void	   *unused2;
} Piece;

static Piece *pieces;
MemoryContext CurrentMemoryContext;
sigjmp_buf *PG_exception_stack;
ErrorContextCallback *error_context_stack;

/* nobody cancels */
volatile sig_atomic_t InterruptPending;

void
ProcessInterrupts(void)
{
}

static void *
linked(Piece *piece)
{
	HOLDS(piece != NULL);
	piece->next = pieces;
	piece->before = &pieces;
	if (pieces)
		pieces->before = &piece->next;
	pieces = piece;
	return piece + 1;
}

void *
palloc(Size size)
{
	return linked(malloc(sizeof(Piece) + size));
}

void *
palloc0(Size size)
{
	return linked(calloc(1, sizeof(Piece) + size));
}

void *
palloc_extended(Size size, int flags)
{
	return palloc0(size);
}

void *
MemoryContextAlloc(MemoryContext context, Size size)
{
	return palloc(size);
}

static Piece *
unlinked(void *memory)
{
	Piece	   *piece = (Piece *) memory - 1;

	*piece->before = piece->next;
	if (piece->next)
		piece->next->before = piece->before;
	return piece;
}

void
pfree(void *memory)
{
	free(unlinked(memory));
}

void *
repalloc(void *memory, Size size)
{
	return linked(realloc(unlinked(memory), sizeof(Piece) + size));
}

char *
pnstrdup(const char *in, Size length)
{
	size_t		n = strnlen(in, length);
	char	   *out = palloc(n + 1);

	memcpy(out, in, n);
	out[n] = '\0';
	return out;
}

char *
pstrdup(const char *in)
{
	return pnstrdup(in, strlen(in));
}

static void
free_pieces(void)
{
	while (pieces)
		pfree(pieces + 1);
}

text *
cstring_to_text_with_len(const char *in, int length)
{
	text	   *out;

	HOLDS(length >= 0);
	out = palloc(length + VARHDRSZ);
	SET_VARSIZE(out, length + VARHDRSZ);
	memcpy(VARDATA(out), in, length);
	return out;
}

text *
cstring_to_text(const char *in)
{
	return cstring_to_text_with_len(in, strlen(in));
}
