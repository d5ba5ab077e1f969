/*
 * executor.h
 *		The supervisor's hold on executors: sandboxes, messages, shared memory, processes.
 */
#ifndef CUDAL1_EXECUTOR_H
#define CUDAL1_EXECUTOR_H

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#include "common/clock.h"
#include "common/proc.h"
#include "common/random.h"
#include "common/tensor.h"
#include "common/wire.h"

/* sandbox.c: a program in a bubblewrap sandbox, with limits and filters of system calls */

/* the name of a supervisor's process, whatever its file's is; the sweep spares its children */
#define SANDBOX_SUPERVISOR	"cudal1-measure"

#define SANDBOX_MAX_FDS		8
#define SANDBOX_MAX_BINDS	16
#define SANDBOX_MAX_DEVICES	8
#define SANDBOX_MAX_WORDS	96

typedef struct SandboxBind
{
	const char *path;
	bool		writable;
	/* path for the code, unless it is unsandboxed; NULL: the same path */
	const char *inside;
} SandboxBind;

typedef struct Sandbox
{
	const char *const *argv;	/* argv[0] is an absolute path */
	const char *workdir;		/* NULL: / */
	SandboxBind binds[SANDBOX_MAX_BINDS];
	int			nbinds;
	const char *devices[SANDBOX_MAX_DEVICES];	/* nodes in /dev */
	int			ndevices;
	int			fds[SANDBOX_MAX_FDS];	/* become descriptors 3, 4, ... inside */
	int			nfds;
	int			output_fd;		/* standard output and error */
	const char *environment[SANDBOX_MAX_WORDS];	/* NAME, value, NAME, value, ..., NULL */
	int			words;
	cpu_set_t  *cores;			/* NULL: where the supervisor runs */
	size_t		tmp_bytes;		/* size of a private /tmp; 0: none */
	const char *tmp_link;		/* NULL, or the folder inside that /tmp is a symbolic link to */
	/* NULL, or a folder inside; the program may mount there, in namespaces of its own (guard.h) */
	const char *mount_point;
	size_t		file_bytes;		/* RLIMIT_FSIZE */
	size_t		data_bytes;		/* RLIMIT_DATA; 0: set by the executor itself */
	double		cpu_seconds;	/* RLIMIT_CPU; 0: none */
	/* without a /proc, through which the memory of bubblewrap's own process could be written */
	bool		no_proc;
	/* the program itself is process 1, so that there is no process of bubblewrap's inside */
	bool		first;
	bool		unsandboxed;	/* an administrator's choice: limits and filters only */
} Sandbox;

/* a variable of the environment; the value stays the caller's */
static inline void
sandbox_set(Sandbox *sandbox, const char *name, const char *value)
{
	sandbox->environment[sandbox->words++] = name;
	sandbox->environment[sandbox->words++] = value;
}

/* the outermost process, which ends as the program does, a signal as 128 + it; or -1: errno */
extern pid_t sandbox_start(const Sandbox *sandbox);

/* kills the program and all that it started, and reaps it */
extern void sandbox_end(pid_t pid);

/* waits for the end, at most so many seconds; false: still running */
extern bool sandbox_wait(pid_t pid, double seconds, int *status);

/* a descriptor with the filters that an executor applies before and after it loads a candidate */
extern int	sandbox_guard_filters(bool python, bool gpu);

/* ends sandboxes that were just starting when their supervisor was killed */
extern void sandbox_sweep(void);

/* NULL if a sandbox starts here, else what is missing */
extern const char *sandbox_problem(void);

extern const char *sandbox_version(void);

/* calls.c: the system calls that a sandbox lets through, one table, and the filters made of it */

/* Filters, each a letter in the table. */
#define CALLS_LOAD_C	'L'		/* C on a CPU, while its code is loaded */
#define CALLS_RUN_C		'C'		/* from then on */
#define CALLS_TORCH		'T'		/* PyTorch on a CPU, from before its code is loaded */
#define CALLS_GPU		'G'		/* CUDA C++ and PyTorch on a GPU, likewise */
#define CALLS_BUILD		'B'		/* all that bubblewrap starts: compilers, interpreters, executors */
#define CALLS_BUILD_GPU	'D'		/* the same, with the nodes of a GPU */
#define CALLS_MOUNT		'M'		/* beside these: parents that mount folders for executors */

/* adds a filter of these classes together, as BPF, to a file; false: libseccomp can't make it */
extern bool calls_export(const char *classes, int fd);

/* messages.c: datagrams over sockets */

/* a signal handler sets it, and every wait for an executor ends */
extern volatile sig_atomic_t executor_cancelled;

/* Results of a message to an executor; Executor has further details. */
typedef enum ExecutorResult
{
	EXECUTOR_OK = WIRE_OK,
	EXECUTOR_FAILED = WIRE_FAILED,	/* `text` says how, as of the next two */
	EXECUTOR_UNSUPPORTED = WIRE_UNSUPPORTED,
	EXECUTOR_FAULTED = WIRE_FAULTED,
	EXECUTOR_TIMEOUT,
	EXECUTOR_ENDED,				/* the process ended; `wait_status` says how */
	EXECUTOR_FORGED,			/* a reply that no honest executor sends */
	/* a process that should be stopped, this one or another, ran; `intruder` says of which side */
	EXECUTOR_AWAKE,
	EXECUTOR_BROKEN,			/* the host failed, not the code */
} ExecutorResult;

#define MESSAGE_HANDED	8		/* descriptors that go along with a message, at most */

/* waits for a message; pid: the sender's, as the kernel vouches, or NULL */
extern ExecutorResult message_receive(int sock, WireMessage *message, double deadline, pid_t *pid);

/* sends one, with `n` descriptors */
extern bool message_send(int sock, WireMessage *message, const int *fds, int n, int flags);

/* arena.c: memory files, shared with executors or handed to them sealed */

/* slots of inputs, and of outputs where the executor writes into shared memory */
typedef struct Arena
{
	int			inputs_fd;
	int			outputs_fd;
	char	   *inputs;
	char	   *outputs;
	/* the inputs as the supervisor made them; never seen by a candidate */
	char	   *master;
	int			master_fd;
	uint32_t	slots;
	size_t		input_slot_bytes;
	size_t		output_slot_bytes;
	/* the memory that the descriptors stand for, where it lies on a GPU */
	struct GpuArena *gpu;
	/* on a GPU: a candidate's number, which chooses its memory; the reference has its own */
	int			place;
	void		(*release) (struct GpuArena *gpu);	/* gives that back; NULL: there is none */
} Arena;

extern bool arena_create(Arena *arena, uint32_t slots, size_t input_slot_bytes,
						 size_t output_slot_bytes, bool inputs_writable);
/* no memory yet; arena_destroy does nothing */
extern void arena_init(Arena *arena);
extern void arena_destroy(Arena *arena);

/* a sealed memfd holding these bytes */
extern int	memory_file(const char *name, const void *bytes, size_t length);

/* a file for what a program prints, and its beginning or its end, valid UTF-8 */
extern int	log_file(void);
extern void log_read(int fd, bool end, char *text, size_t size);

/* a memfd of a fixed size, mapped writable here; -1: errno says why. `seals`: more of them */
extern int	shared_memory(const char *name, size_t bytes, int seals, void **address);

/* executor.c: start an executor, freeze and thaw it, have it run, read its outputs */

/* files of a process in /proc/PID */
typedef struct ProcFiles
{
	int			stat;
	int			schedstat;
	int			tasks;			/* the folder task */
} ProcFiles;

/* A command to an executor, and what came of it. */
typedef struct Command
{
	WireMessage asked;
	double		limit;			/* seconds that it may take */
	double		begun;
	/* of executor_begin(): seconds until the answer, and what came of it */
	double		took;
	ExecutorResult result;
	int			resumed;		/* how often the supervisor had been resumed before the command */
	/* with EXECUTOR_TIMEOUT: others have stopped it, or the supervisor, meanwhile */
	bool		halted;
} Command;

/* or a zygote: a process that has imported PyTorch, and forks executors */
typedef struct Executor
{
	/* outermost process of its own sandbox; 0 if forked from a zygote */
	pid_t		sandbox;
	struct Executor *zygote;
	uint64_t	forked;			/* the nonce that the zygote was asked for it with */
	pid_t		pid;			/* as the supervisor sees it */
	int			pidfd;
	ProcFiles	proc;
	clockid_t	cpu_clock;		/* CPU time of all its threads */
	bool		one_core;		/* pinned to a single core: time spent waiting for it can be told */
	int			sock;
	int			log_fd;			/* file of what the code printed */
	int			control_fd;
	WireControl *control;
	bool		frozen;
	bool		hostile;		/* of the candidate's side */
	bool		intruder;		/* with EXECUTOR_AWAKE: it was of the candidate's side */
	bool		met;			/* the process has made a run */
	bool		attentive;		/* the supervisor has a core to spend on waiting for its answers */
	int			handed;			/* a descriptor that goes along with the next command, or -1 */
	Command		last;
	bool		ended;
	int			wait_status;
	int64_t		value;			/* of the last reply */
	int64_t		arrays;			/* pytorch: its reply to WIRE_LOAD */
	WireTensor	listed[WIRE_MAX_TENSORS];	/* pytorch: results as they were listed */
	uint32_t	listed_run;		/* of that run, counted from 1; 0: none since the last command */
	char		text[2048];		/* the last error, valid UTF-8 */
	struct GpuMemory *pool;		/* on a GPU: what a PyTorch executor allocates from */
	size_t		pool_bytes;
	void		(*release) (struct GpuMemory *pool);	/* gives that back */
} Executor;

/*
 * Where the `n` results of a run of a module lie: entries of the table, copied once a run. The
 * executor can write there, so that else noise would come to another place than was looked at.
 */
static inline const WireTensor *
executor_listed(Executor *executor, uint32_t run, int n)
{
	if (executor->listed_run != run + 1)
		memcpy(executor->listed, &executor->control->table[run * (uint32_t) n],
			   (uint32_t) n * sizeof(WireTensor));
	executor->listed_run = run + 1;
	return executor->listed;
}

/* Sets a handle without a process; executor_end() does nothing then. */
extern void executor_init(Executor *executor);

/*
 * Starts a process with its socket, its control memory and these descriptors from 3 on;
 * executor_ready() waits until it says hello; executor_fork() does both. False: the host fails.
 */
extern bool executor_start(Executor *executor, Sandbox *sandbox, const int *fds, int nfds);
extern bool executor_ready(Executor *executor, double seconds);
extern bool executor_fork(Executor *executor, Executor *zygote, const int *fds, int nfds,
						  double seconds);
extern void executor_end(Executor *executor);
/* Kills without waiting for the end; executor_end() follows. */
extern void executor_kill(Executor *executor);

/* how a process ended whose socket fell silent: `ended` and `wait_status` */
extern void executor_find_end(Executor *executor);

extern ExecutorResult executor_freeze(Executor *executor);
extern ExecutorResult executor_thaw(Executor *executor);

/* keeps all its threads to these cores */
extern void executor_pin(const Executor *executor, const cpu_set_t *cores);

/* lowers what code may add to its process from `limit` bytes to `bytes`; false: errno says why */
extern bool executor_lower_limit(const Executor *executor, size_t limit, size_t bytes);

/*
 * A reading of the clock. `cpu` and `delay` are the executor's, `own_delay` is the supervisor's:
 * seconds that the process was ready to run while others had its core. They are 0 where they were
 * not read, and on several cores.
 */
typedef struct Reading
{
	double		wall;
	double		cpu;
	double		delay;
	double		own_delay;
} Reading;

/* seconds between two readings without the executor's delay, but no less than its CPU time */
extern double reading_seconds(const Executor *executor, const Reading *from, const Reading *to);

/* thaws an executor for a command, waits for its answer, and leaves it frozen */
extern ExecutorResult executor_command(Executor *executor, uint32_t op, uint32_t count,
									   uint32_t flags, double timeout);

/*
 * Commands in two steps, so that several processes are at work side by side while no clock runs.
 * executor_await() leaves each frozen that has answered, has ended or has passed its limit, with
 * what came of it in `result` and `took`.
 */
#define EXECUTORS_AWAITED	64		/* at most */
extern ExecutorResult executor_begin(Executor *executor, uint32_t op, uint32_t count,
									 uint32_t flags, uint64_t seed, double timeout);
extern void executor_await(Executor *const *executors, int n);

/*
 * A window: a command whose runs begin one by one. executor_begin_window() waits until the process
 * is at its first gate. executor_open_gate() opens the gate of run gate - 1, a later one than the
 * last. executor_await_run() waits until the process is at the next one: false where that took
 * longer than `timeout`. executor_end_window() takes the answer, and leaves the process stopped;
 * `all`: every run has answered.
 */
extern ExecutorResult executor_begin_window(Executor *executor, uint32_t runs, uint32_t flags,
											double timeout);
extern void executor_open_gate(Executor *executor, uint32_t gate);
extern bool executor_await_run(Executor *executor, uint32_t run);
extern ExecutorResult executor_end_window(Executor *executor, bool all);

/* reads what `reading` has beside the wall time: the kernel's accounts, or zeros unless `whole` */
extern void executor_read_usage(const Executor *executor, Reading *reading, bool whole);

/* copies a run's output, gathered to be contiguous; layout: what is expected */
extern ExecutorResult executor_read_tensor(Executor *executor, const WireTensor *tensor,
										   const Tensor *layout, void *out);

/*
 * whether a tensor that is not empty has strides of a view; piece: elements that follow each other;
 * span: elements from the first to the last
 */
extern bool executor_is_view(const WireTensor *tensor, const Tensor *layout, size_t *piece,
							 uint64_t *span);

/* the bytes at these addresses of the executor, of those that can be read */
extern void executor_read_places(const Executor *executor, const uint64_t *address, int n,
								 size_t size, uint64_t *value);

/* Brings memory of a stopped process into the caches of the core that calls it, if it is there. */
extern void executor_fetch(const Executor *executor, const WireStretch *stretch);

/*
 * `noise`, repeated, to all places of a run's output; of a view with gaps, or a turned one, to some
 * that are drawn. stretch: all of the output. EXECUTOR_FORGED: it can't be written
 */
extern ExecutorResult executor_write_tensor(Executor *executor, const WireTensor *tensor,
											const Tensor *layout, RandomStream *random,
											void *noise, size_t bytes, WireStretch *stretch);

/* how many of these addresses, from the first on, lie in pages that the process has written */
extern int	executor_count_written(const Executor *executor, const uint64_t *address, int n);

/* stopped.c: are the processes that should be stopped really stopped? */

/* whether every thread of a process is stopped, or at its end; first: the stat of the first one */
extern bool stopped_whole(const ProcStat *first, pid_t pid);

/* notes that a process was seen to be stopped and should stay so; that it is resumed or ended */
extern void stopped_noted(const Executor *executor);
extern void stopped_released(const Executor *executor);

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

#endif							/* CUDAL1_EXECUTOR_H */
