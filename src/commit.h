/*
 * Commits that let go of their locks before they wait for the disk.
 */
#ifndef CUDAL1_COMMIT_H
#define CUDAL1_COMMIT_H

/* waits until all that is visible to a snapshot taken before the call is on disk; does nothing on a standby */
extern void cudal1_commit_flush_visible(void);

#endif							/* CUDAL1_COMMIT_H */
