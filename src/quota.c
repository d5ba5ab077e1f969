/*
 * quota.c
 *		The room of a session: how much it may submit before its role's quotas are checked again.
 *
 * To count what a role has queued and stored takes time in proportion to it, too much for each
 * submission.  So a count gives the session some room: a fiftieth of the quota, or a sixteenth of
 * what is left of it.  Submissions use the room up without counting.  A submission that is rolled
 * back uses room, too; the next count corrects that.  Many sessions of one role can exceed its
 * quota, at most by the sum of their rooms.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(cudal1_take_room);
PG_FUNCTION_INFO_V1(cudal1_give_room);

/* milliseconds; a quota that an operator changed takes effect within this time */
#define ROOM_LASTS 10000

static struct
{
	Oid			caller;
	NameData	owner;
	int64		candidates;
	int64		bytes;
	TimestampTz given;
}			room;

/*
 * cudal1.take_room(owner text, candidates bigint, bytes bigint) RETURNS boolean
 *
 * False: there is not enough room, so the caller must count what the owner has.
 */
Datum
cudal1_take_room(PG_FUNCTION_ARGS)
{
	text	   *owner = PG_GETARG_TEXT_PP(0);
	int64		candidates = PG_GETARG_INT64(1);
	int64		bytes = PG_GETARG_INT64(2);
	size_t		length = VARSIZE_ANY_EXHDR(owner);

	if (room.caller != GetOuterUserId() ||
		candidates < 0 || candidates > room.candidates || bytes < 0 || bytes > room.bytes ||
		length != strlen(NameStr(room.owner)) ||
		memcmp(VARDATA_ANY(owner), NameStr(room.owner), length) != 0 ||
		TimestampDifferenceExceeds(room.given, GetCurrentTimestamp(), ROOM_LASTS))
		PG_RETURN_BOOL(false);
	room.candidates -= candidates;
	room.bytes -= bytes;
	PG_RETURN_BOOL(true);
}

/* cudal1.give_room(owner text, candidates bigint, bytes bigint) RETURNS void */
Datum
cudal1_give_room(PG_FUNCTION_ARGS)
{
	char	   *owner = text_to_cstring(PG_GETARG_TEXT_PP(0));

	room.caller = GetOuterUserId();
	namestrcpy(&room.owner, owner);
	room.candidates = PG_GETARG_INT64(1);
	room.bytes = PG_GETARG_INT64(2);
	room.given = GetCurrentTimestamp();
	PG_RETURN_VOID();
}
