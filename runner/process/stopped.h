/*
 * stopped.h
 *		Are the processes that should be stopped really stopped?
 */
#ifndef CUDAL1_STOPPED_H
#define CUDAL1_STOPPED_H

#include <stdbool.h>
#include <signal.h>
#include <sys/types.h>

typedef struct ProcessState
{
	char		letter;			/* as in proc(5); 0: gone */
	bool		still;			/* stopped, or at its end */
	bool		exiting;
	long		threads;
} ProcessState;

/* of the first thread, from a descriptor of /proc/PID/stat */
extern ProcessState stopped_look(int stat_fd);

/* whether every thread of a process is stopped, or at its end */
extern bool stopped_threads(pid_t pid);

/*
 * Notes that a process was seen to be stopped and should stay so; that it is resumed; that it is
 * ended. Its descriptor names it. stat_fd: of its first thread's stat.
 */
extern void stopped_noted(int pidfd, int stat_fd, pid_t pid, bool hostile);
extern void stopped_released(int pidfd);
extern void stopped_ended(int pidfd);

typedef enum StoppedVerdict
{
	STOPPED_ALL,
	STOPPED_NOT_REFERENCE,
	STOPPED_NOT_CANDIDATE,
} StoppedVerdict;

/*
 * Whether processes that were noted, and not resumed, are stopped. Takes about 10 us for each
 * thread. If a process outside has resumed all of them, each is stopped again.
 */
extern StoppedVerdict stopped_check(void);

/* counted by a handler of SIGCONT: a process that resumes the supervisor may have resumed all */
extern volatile sig_atomic_t stopped_continued;

#endif							/* CUDAL1_STOPPED_H */
