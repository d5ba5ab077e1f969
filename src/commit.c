/*
 * commit.c
 *		Commits that let go of their locks before they wait for the disk.
 *
 * Acceptances of one task are serialised by a lock, and a commit holds its locks until its log is flushed: eight workers then
 * share one flush after the other, and are slower than one, who has nobody to wait for.  So a transaction that accepts a score
 * commits without waiting, which frees the locks, and is flushed afterwards, before its client hears of it: what was
 * acknowledged is on disk, and one flush serves all that wait.  In between others may see what a crash would undo; what builds
 * upon it follows it in the log and is undone with it, and cudal1_wait() flushes before it tells a verdict.
 *
 * With synchronous standbys a commit must wait for them, which has no entry point of this kind: there all stays as it is.
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
static bool unflushed = false;	/* this transaction began as one that need not be flushed */

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
	(void) set_config_option("synchronous_commit", "off", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0, false);
}

/*
 * cudal1.unlock_before_flush() RETURNS void
 */
Datum
cudal1_unlock_before_flush(PG_FUNCTION_ARGS)
{
	if (synchronous_commit > SYNCHRONOUS_COMMIT_OFF && (SyncRepStandbyNames == NULL || SyncRepStandbyNames[0] == '\0'))
		commit_asynchronously();
	else if (!unflushed)
		PG_RETURN_VOID();
	flush_pending = true;
	PG_RETURN_VOID();
}

/*
 * cudal1.commit_without_flush() RETURNS void
 *
 * For what may be lost in a crash, in a statement that is a transaction of its own; in a larger one there is more to keep.
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

/* waits until all that is visible now is on disk */
void
cudal1_commit_flush_visible(void)
{
	XLogRecPtr	end;

	if (RecoveryInProgress())
		return;
	end = GetXLogInsertRecPtr();
	/* at the start of a page it points behind the header, which nothing has written yet */
	if (end % XLOG_BLCKSZ == SizeOfXLogShortPHD || XLogSegmentOffset(end, wal_segment_size) == SizeOfXLogLongPHD)
		end -= end % XLOG_BLCKSZ;
	XLogFlush(end);
}
