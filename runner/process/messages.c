/*
 * messages.c
 *		Datagrams between the supervisor and its executors.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "process/executor.h"

volatile sig_atomic_t executor_cancelled;

/* sleeps until there is news; as poll(), with 0 at the deadline and where it is cancelled */
static int
wait_for_news(int sock, double deadline)
{
	struct pollfd p = {.fd = sock,.events = POLLIN};
	double		left = 0;
	int			ready = 0;

	while (ready == 0 && !executor_cancelled && (left = deadline - clock_now()) > 0)
	{
		ready = poll(&p, 1, left > 1000 ? 1000000 : (int) (left * 1000) + 1);
		if (ready < 0 && errno == EINTR)
			ready = 0;
	}
	return ready;
}

ExecutorResult
message_receive(int sock, WireMessage *message, double deadline, pid_t *pid)
{
	for (;;)
	{
		int			ready = wait_for_news(sock, deadline);
		/* no room for descriptors, which the kernel then hands over to nobody */
		char		space[CMSG_SPACE(sizeof(struct ucred))];
		struct iovec iov = {message, sizeof(*message)};
		struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = space,
			.msg_controllen = sizeof(space)};
		ssize_t		got;

		if (ready <= 0)
			return ready == 0 ? EXECUTOR_TIMEOUT : EXECUTOR_BROKEN;
		got = recvmsg(sock, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			return EXECUTOR_ENDED;
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c))
		{
			if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS && pid)
				*pid = ((struct ucred *) (void *) CMSG_DATA(c))->pid;
		}
		return got == sizeof(*message) ? EXECUTOR_OK : EXECUTOR_FORGED;
	}
}

bool
message_send(int sock, WireMessage *message, const int *fds, int n, int flags)
{
	char		space[CMSG_SPACE(MESSAGE_HANDED * sizeof(int))] = {0};
	struct iovec iov = {message, sizeof(*message)};
	struct msghdr header = {.msg_iov = &iov,.msg_iovlen = 1};
	size_t		bytes = (size_t) n * sizeof(int);

	if (n > 0)
	{
		struct cmsghdr *c;

		header.msg_control = space;
		header.msg_controllen = CMSG_SPACE(bytes);
		c = CMSG_FIRSTHDR(&header);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(bytes);
		memcpy(CMSG_DATA(c), fds, bytes);
	}
	return sendmsg(sock, &header, MSG_NOSIGNAL | flags) == sizeof(*message);
}
