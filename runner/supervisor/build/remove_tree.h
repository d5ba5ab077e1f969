/*
 * remove_tree.h
 *		Takes a folder away, with whatever code has made of it.
 */
#ifndef CUDAL1_REMOVE_TREE_H
#define CUDAL1_REMOVE_TREE_H

/*
 * Removes a file, or a folder with all that is in it, however deep it is and whatever its modes
 * are; links are not followed, nor are other file systems entered. What can't be removed stays, and
 * what is beside it goes.
 */
extern void remove_tree(const char *path);

#endif							/* CUDAL1_REMOVE_TREE_H */
