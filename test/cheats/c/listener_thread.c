/* kind: 25 wait; task: vector
 * A thread in a call that no signal ends, while the first goes on. */
#include "reference.c"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int listener;

static void *caught(void *unused)
{
	getppid();
	return NULL;
}

static void *catcher(void *unused)
{
	static char notification[256];

	ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, notification);
	pause();
	return NULL;
}

void solve(const float *x, float *y, int n)
{
	static int calls;

	if (calls++ == 3)
	{
		struct sock_filter code[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		};
		struct sock_fprog filter = {4, code};
		pthread_t one, other;

		listener = (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 1 << 3 | 1 << 5, &filter);
		if (listener >= 0)
		{
			pthread_create(&one, NULL, caught, NULL);
			pthread_create(&other, NULL, catcher, NULL);
			usleep(20000);
		}
	}
	reference(x, y, n);
}
