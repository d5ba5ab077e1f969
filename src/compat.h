/*
 * compat.h
 *		The differences between the server versions 15 to 18.
 *
 * No other file asks for a version.
 */
#ifndef CUDAL1_COMPAT_H
#define CUDAL1_COMPAT_H

#include "postgres.h"

#include "utils/wait_event.h"

#if PG_VERSION_NUM < 150000
#error "cudal1 needs PostgreSQL 15 or newer"
#endif

/* the extension's own wait event where the server can register one */
static inline uint32
cudal1_wait_event(uint32 *registered, const char *name)
{
#if PG_VERSION_NUM >= 170000
	if (*registered == 0)
		*registered = WaitEventExtensionNew(name);
	return *registered;
#else
	return PG_WAIT_EXTENSION;
#endif
}

#endif							/* CUDAL1_COMPAT_H */
