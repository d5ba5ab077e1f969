/*
 * commit.h
 *		Commits that free their locks before they wait for the disk.
 */
#ifndef CUDAL1_COMMIT_H
#define CUDAL1_COMMIT_H

/*
 * Waits until everything that a snapshot taken before the call shows is on disk.  Does nothing on a
 * standby.
 */
extern void cudal1_commit_flush_visible(void);

#endif							/* CUDAL1_COMMIT_H */
