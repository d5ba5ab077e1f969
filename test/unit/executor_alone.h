/*
 * executor_alone.h
 *		Stand-ins for what executor.c calls elsewhere to start and to end processes, where a test
 *		does neither.
 */
#ifndef CUDAL1_EXECUTOR_ALONE_H
#define CUDAL1_EXECUTOR_ALONE_H

bool
sandbox_wait(pid_t pid, double seconds, int *status)
{
	abort();
}

pid_t
sandbox_start(const Sandbox *sandbox)
{
	abort();
}

int
sandbox_end(pid_t pid)
{
	abort();
}

uint64_t
random_secret(void)
{
	return 7;
}

#endif							/* CUDAL1_EXECUTOR_ALONE_H */
