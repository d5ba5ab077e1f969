/*
 * refused.h
 *		Names the system calls of a command that a sandbox would not let through.
 */
#ifndef CUDAL1_REFUSED_H
#define CUDAL1_REFUSED_H

/*
 * Runs a command without a sandbox, then prints what one on a device of this class, "cpu" or "gpu",
 * would have refused it. A call of personality(0xffffffff), which does nothing, ends what a build
 * may do and begins what a run may. The command's exit status, 2 for another class, 126 where it
 * can't be followed.
 */
extern int	refused_list(const char *device_class, char **command);

#endif							/* CUDAL1_REFUSED_H */
