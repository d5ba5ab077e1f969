/*
 * agent.c
 *		The bottom of cudal1-agent: settings, log, memory, signals, waiting.
 *
 * Signals are read from a descriptor in the one place where the agent waits, so they interrupt no
 * other call.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "common/clock.h"

AgentSettings agent_settings = {.device = "all", .prefetch = 1, .grace = 120,
	.poll = 1, .until_idle = -1, .patience = 120, .conninfo = ""};
AgentMode	agent_mode = AGENT_WORK;
int			cudal1_lease_seconds = 60;

static int	signal_descriptor = -1;

void
agent_log(const char *format, ...)
{
	va_list		arguments;
	struct timespec now;
	struct tm	local;
	char		stamp[64];

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &local);
	strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &local);
	fprintf(stderr, "%s.%03ld cudal1-agent[%d]: ", stamp, now.tv_nsec / 1000000, (int) getpid());
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

char *
agent_format(const char *format, ...)
{
	va_list		arguments;
	char	   *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
	{
		fputs("cudal1-agent: out of memory\n", stderr);
		exit(1);
	}
	va_end(arguments);
	return text;
}

static void
take_signals(void)
{
	struct signalfd_siginfo info;

	while (read(signal_descriptor, &info, sizeof(info)) == (ssize_t) sizeof(info))
	{
		if (info.ssi_signo == SIGUSR1 && agent_mode == AGENT_WORK)
		{
			agent_log("finishing what runs, claiming nothing more");
			agent_mode = AGENT_DRAIN;
		}
		else if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT || info.ssi_signo == SIGHUP)
			agent_mode = AGENT_LEAVE;
	}
}

void
agent_wait(int socket, short events, bool children, double until)
{
	struct pollfd fds[3] = {{.fd = signal_descriptor, .events = POLLIN}};
	nfds_t		n = 1;

	if (socket >= 0)
		fds[n++] = (struct pollfd){.fd = socket, .events = events};
	if (children)
		fds[n++] = (struct pollfd){.fd = cudal1_children_epoll, .events = POLLIN};
	(void) poll(fds, n, (int) ceil(fmin(fmax(0, until - clock_now()), 3600) * 1000));
	take_signals();
}

void
agent_block_signals(void)
{
	sigset_t	ours;

	sigemptyset(&ours);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGHUP);
	sigaddset(&ours, SIGUSR1);
	(void) sigprocmask(SIG_BLOCK, &ours, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal_descriptor = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signal_descriptor < 0)
	{
		agent_log("no descriptor for signals: %s", strerror(errno));
		exit(1);
	}
}
