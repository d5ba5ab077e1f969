/*
 * executor.h
 *		The supervisor's hold on an executor: start it, freeze and thaw it, have it run, read its
 *		outputs.
 */
#ifndef CUDAL1_EXECUTOR_H
#define CUDAL1_EXECUTOR_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#include "common/random.h"
#include "common/tensor.h"
#include "common/wire.h"
#include "process/arena.h"
#include "process/messages.h"
#include "process/sandbox.h"
#include "process/zygote.h"

/* addresses in an executor; on a GPU, offsets in its pool */
typedef struct Stretch
{
	uint64_t	from;
	uint64_t	to;
} Stretch;

#define EXECUTOR_RECENT	2		/* blocks */

/* pytorch: what is known of the memory of its outputs, see poison.c */
typedef struct OutputMemory
{
	uint32_t	runs;			/* of the block before, whose outputs are to be overwritten */
	uint64_t	places;			/* overwritten so far */
	uint64_t	unwritten;		/* of these, where writing had to make the page */
	uint64_t	fresh;			/* bytes of the last block's where no recent block's lay */
	Stretch    *recent[EXECUTOR_RECENT];	/* where those of the last lay, in order and apart */
	size_t		stretches[EXECUTOR_RECENT];
} OutputMemory;

/*
 * what a command does between two runs, while the second one waits for its leave to begin, and once
 * that is done, while the process is stopped. That may be NULL.
 */
typedef struct Gate
{
	void		(*open) (void *context);
	void		(*close) (void *context);
	void	   *context;
	bool		stops;			/* the process is stopped until its leave comes */
} Gate;

typedef struct Executor
{
	/* outermost process of its own sandbox; 0 if forked from a zygote */
	pid_t		sandbox;
	Zygote	   *zygote;
	uint64_t	forked;			/* the nonce that the zygote was asked for it with */
	pid_t		pid;			/* as the supervisor sees it */
	int			pidfd;
	int			stat_fd;		/* /proc/PID/stat */
	int			schedstat_fd;	/* /proc/PID/schedstat */
	clockid_t	cpu_clock;		/* CPU time of all its threads */
	bool		one_core;		/* pinned to a single core: time spent waiting for it can be told */
	int			sock;
	int			log_fd;			/* what it printed */
	int			control_fd;
	WireControl *control;
	bool		frozen;
	bool		hostile;		/* of the candidate's side */
	int			side;			/* whose memory it maps on a GPU */
	bool		intruder;		/* with EXECUTOR_AWAKE: it was of the candidate's side */
	bool		met;			/* has had a block with runs */
	/*
	 * CPU seconds of its last command, with a gate those of its second run; on several cores, all
	 * seconds
	 */
	double		worked;
	const Gate *gate;			/* the next command's second run waits for it; or NULL */
	bool		preempted;			/* others had its core meanwhile */
	/* seconds from one gate to the next, in its last block that had gates */
	double		pace;
	double		limit;			/* seconds that its last command might take */
	bool		attentive;		/* the supervisor has a core to spend on waiting for its answers */
	/* it is asked for blocks in which its code is not called, and nothing sent to the GPU */
	bool		idle;
	bool		again;			/* its code is not called, each run returns the last result again */
	bool		untaken;		/* results are not copied, also where they are to be */
	bool		stays;			/* its code is not moved */
	double		begun;			/* when it was asked */
	/* of executor_begin(): seconds until the answer, and what came of it */
	double		took;
	ExecutorResult result;
	int			handed;			/* a descriptor that goes along with the next command, or -1 */
	RandomKey	secret;			/* of a generator: drawn for each command */
	WireMessage asked;
	int			resumed;		/* how often the supervisor had been, when it was asked */
	/* with EXECUTOR_TIMEOUT: others have stopped it, or the supervisor, meanwhile */
	bool		halted;
	WireMessage answer;
	bool		ended;
	int			wait_status;
	int64_t		value;			/* of the last reply */
	int64_t		arrays;			/* pytorch: its reply to WIRE_LOAD */
	char		text[2048];		/* the last error, valid UTF-8 */
	struct GpuMemory *pool;		/* on a GPU: what a PyTorch executor allocates from */
	size_t		pool_bytes;
	void		(*release) (struct GpuMemory *pool);	/* gives that back */
	OutputMemory memory;
} Executor;

/* PyTorch on a GPU: how often its pool had less left than it asked for */
static inline uint64_t
executor_pool_refused(const Executor *executor)
{
	return executor->control ? executor->control->pool_refused : 0;
}

/* nothing started yet; executor_end does nothing */
extern void executor_init(Executor *executor);

/* the executor gets descriptors 3.. as wire.h says */
extern ExecutorResult executor_start(Executor *executor, Sandbox *sandbox, const Arena *arena,
									 int call_fd, int filter_fd, double seconds);
extern ExecutorResult executor_fork(Executor *executor, Zygote *zygote, const int *fds, int nfds,
									double seconds);
extern void executor_end(Executor *executor);
/* the same without waiting until it is gone; executor_end() follows */
extern void executor_kill(Executor *executor);
/* of a killed one: what it had of a GPU's memory, which is free when it is gone */
extern void executor_give_back(Executor *executor);

/* how a process ended whose socket fell silent: `ended` and `wait_status` */
extern void executor_find_end(Executor *executor);

extern ExecutorResult executor_freeze(Executor *executor);
extern ExecutorResult executor_thaw(Executor *executor);

/* keeps all its threads to these cores */
extern void executor_pin(const Executor *executor, const cpu_set_t *cores);

/*
 * Bytes that code has added to its process, as RLIMIT_DATA counts them, of the `limit` that it may
 * add. The other one lowers that to `bytes`; false: errno says why.
 */
extern size_t executor_added(const Executor *executor, size_t limit);
extern bool executor_lower_limit(const Executor *executor, size_t limit, size_t bytes);

/*
 * whether all that should be stopped are; every command but executor_ask's looks before its clock
 * starts
 */
extern ExecutorResult executor_look(Executor *executor);

/*
 * Seconds between two readings, without those in which the executor, or the supervisor, was ready
 * to run but other processes had its core; never less than the CPU time that the executor used.
 */
typedef struct Reading
{
	double		wall;
	double		cpu;
	double		delay;
	uint64_t	turns;			/* times that its first thread got a core */
} Reading;

extern double reading_seconds(const Executor *executor, const Reading *from, const Reading *to);

/*
 * sends a command to a thawed or frozen executor (which it thaws), waits for the reply, leaves it
 * frozen
 */
extern ExecutorResult executor_command(Executor *executor, uint32_t op, uint32_t count,
									   uint32_t flags, uint64_t seed, double timeout,
									   double *elapsed);

/*
 * The same in two steps, so that several processes are at work side by side while no clock runs:
 * executor_begin() leaves it thawed. executor_await() waits for up to EXECUTORS_AWAITED of them,
 * each until it has answered, has ended or has passed its limit. It leaves them frozen, with what
 * came of it in `result` and `took`.
 */
#define EXECUTORS_AWAITED	64
extern ExecutorResult executor_begin(Executor *executor, uint32_t op, uint32_t count,
									 uint32_t flags, uint64_t seed, double timeout);
extern void executor_await(Executor *const *executors, int n);

/* the two halves of a command, where something is to be done between the answer and the freeze */
extern ExecutorResult executor_ask(Executor *executor, uint32_t op, uint32_t count, uint32_t flags,
								   uint64_t seed, double timeout);

/*
 * likewise for runs that start one by one, as `flags` say; `between` is called before each, and
 * after the last
 */
extern ExecutorResult executor_ask_steps(Executor *executor, uint32_t runs, uint32_t flags,
										 void (*between) (void *context, uint32_t run,
														  uint32_t runs), void *context,
										 double timeout);
extern ExecutorResult executor_settle(Executor *executor, ExecutorResult result);

/* copies a run's output, gathered to be contiguous; layout: what is expected */
extern ExecutorResult executor_read_tensor(Executor *executor, const WireTensor *tensor,
										   const Tensor *layout, void *out);

/*
 * Where in an output that is not empty `lot` falls: elements that follow each other, up to `most`
 * bytes of them; false: no view
 */
extern bool executor_find_piece(const WireTensor *tensor, const Tensor *layout, uint64_t lot,
								size_t most, struct iovec *found);

/* `from`, one piece after the other, into all of these places in one call */
extern bool executor_write_places(Executor *executor, const struct iovec *places, size_t n,
								  void *from);

/* the first bytes of what it printed, valid UTF-8 */
extern void executor_log(const Executor *executor, char *text, size_t size);

#endif							/* CUDAL1_EXECUTOR_H */
