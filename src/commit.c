/*
 * commit.c
 *		Commits that free their locks before they wait for the disk.
 *
 * A lock serialises the verdicts of one task, and an ordinary commit holds its locks until its log
 * is flushed.  Eight workers then wait for one flush after the other, and are slower than one
 * worker. So a transaction that accepts a score commits asynchronously, which frees its locks, and
 * flushes its log before its client gets the answer.  What was acknowledged is on disk, and one
 * flush serves all transactions that wait for it.
 *
 * Between commit and flush, other transactions see what a crash would undo.  What they write
 * follows in the log and is undone with it, and cudal1_wait() flushes before it returns a verdict.
 *
 * With synchronous standbys a commit must wait for them too, and the server has no function for
 * that wait alone.  Commits then keep their locks as usual.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "fmgr.h"
#include "replication/syncrep.h"
#include "utils/guc.h"
#include "utils/resowner.h"

#include "commit.h"

PG_FUNCTION_INFO_V1(cudal1_unlock_before_flush);
PG_FUNCTION_INFO_V1(cudal1_commit_without_flush);

static bool flush_pending = false;
static bool unflushed = false;	/* commit_without_flush() was called in this transaction */

static void
flush_after_locks(ResourceReleasePhase phase, bool is_commit, bool is_top_level, void *arg)
{
	bool		flush = flush_pending;

	if (!is_top_level || phase != RESOURCE_RELEASE_AFTER_LOCKS)
		return;
	flush_pending = unflushed = false;
	if (flush && is_commit)
		XLogFlush(XactLastCommitEnd);
}

static void
commit_asynchronously(void)
{
	static bool registered = false;

	if (!registered)
	{
		RegisterResourceReleaseCallback(flush_after_locks, NULL);
		registered = true;
	}
	(void) set_config_option("synchronous_commit", "off", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_LOCAL, true, 0, false);
}

/* cudal1.unlock_before_flush() RETURNS void */
Datum
cudal1_unlock_before_flush(PG_FUNCTION_ARGS)
{
	bool		standbys = SyncRepStandbyNames != NULL && SyncRepStandbyNames[0] != '\0';

	if (synchronous_commit > SYNCHRONOUS_COMMIT_OFF && !standbys)
		commit_asynchronously();
	else if (!unflushed)
		PG_RETURN_VOID();
	flush_pending = true;
	PG_RETURN_VOID();
}

/*
 * cudal1.commit_without_flush() RETURNS void
 *
 * A crash may undo what the calling statement wrote.  Within a transaction block the function does
 * nothing, because the block may have written more.
 */
Datum
cudal1_commit_without_flush(PG_FUNCTION_ARGS)
{
	if (synchronous_commit <= SYNCHRONOUS_COMMIT_OFF || IsInTransactionBlock(true))
		PG_RETURN_VOID();
	commit_asynchronously();
	unflushed = true;
	PG_RETURN_VOID();
}

void
cudal1_commit_flush_visible(void)
{
	XLogRecPtr	end;

	if (RecoveryInProgress())
		return;
	end = GetXLogInsertRecPtr();
	/* at the start of a page the pointer is behind a header that is not written yet */
	if (end % XLOG_BLCKSZ == SizeOfXLogShortPHD ||
		XLogSegmentOffset(end, wal_segment_size) == SizeOfXLogLongPHD)
		end -= end % XLOG_BLCKSZ;
	XLogFlush(end);
}
