/*
 * outcome.c
 *		Verdicts on processes that failed: whose failure it is, its cause, and when it is looked at
 *		once more.
 */
#define _GNU_SOURCE
#include "../../runner/common/text.c"
#include "../../runner/supervisor/outcome.c"

#include "tap.h"

volatile sig_atomic_t executor_cancelled;

static const Backend on_a_gpu = {.apart = true};
static Member member;
static Measure measure = {.backend = &on_a_gpu, .member = &member, .result = &member.result};

void
log_read(int fd, bool end, char *text, size_t size)
{
}

/* the outcome of a process of this side that ended so, with this error */
static Outcome
failed(Side side, Executor executor, ExecutorResult result, const char *error, const char *when)
{
	executor.log_fd = -1;
	snprintf(executor.text, sizeof(executor.text), "%s", error);
	json_decref(member.result.evidence);
	member = (Member) {.result.outcome = OUTCOME_NONE, .result.evidence = json_object()};
	measure.group.dissolved = false;
	measure_failed(&measure, side, &executor, result, when);
	return member.result.outcome;
}

static Outcome
failed_with(Side side, const char *error)
{
	return failed(side, (Executor) {.pid = -1}, EXECUTOR_FAILED, error, "in a run");
}

static bool
has_cause(const char *cause)
{
	const char *found = json_string_value(json_object_get(member.result.evidence, "cause"));

	return found && strcmp(found, cause) == 0;
}

static void
check_sides(void)
{
	check(failed_with(SIDE_REFERENCE, "CUDA error: uncorrectable ECC error encountered")
		  == OUTCOME_UNVERIFIED && member.killed,
		  "memory of a GPU that fails is not held against a task");
	check(failed_with(SIDE_REFERENCE, "CUDA error: invalid configuration argument")
		  == OUTCOME_UNVERIFIED && !member.killed, "its reference's own errors are");
	check(failed_with(SIDE_CANDIDATE, "CUDA error: uncorrectable ECC error encountered")
		  == OUTCOME_LAUNCH_FAILURE, "and a candidate's word is not believed");
	measure.live.candidates = 1;
	check(failed_with(SIDE_REFERENCE, "CUDA out of memory") == OUTCOME_CRASH,
		  "a candidate that holds the GPU's memory fails, not the reference");
	measure.live.candidates = 0;
	check(failed_with(SIDE_REFERENCE, "CUDA out of memory") == OUTCOME_UNVERIFIED,
		  "the reference alone does");
	for (int i = 0; i < 2; i++)
		check(failed(SIDE_CANDIDATE, (Executor) {.last.halted = i == 1}, EXECUTOR_TIMEOUT, "",
					 "in a run") == OUTCOME_TIMEOUT && member.killed == (i == 1),
			  i == 1 ? "but code that others have stopped is measured once more"
			  : "code that takes too long has its verdict");
	check(failed(SIDE_CANDIDATE, (Executor) {.intruder = true}, EXECUTOR_AWAKE, "", "")
		  == OUTCOME_CHEAT, "a candidate's process that runs while it is stopped is a cheat");
	check(failed(SIDE_CANDIDATE, (Executor) {.intruder = false}, EXECUTOR_AWAKE, "", "")
		  == OUTCOME_UNVERIFIED, "a reference's is not");
}

static void
check_causes(void)
{
	check(failed(SIDE_CANDIDATE, (Executor) {.wait_status = SIGSEGV}, EXECUTOR_ENDED, "", "")
		  == OUTCOME_CRASH && has_cause("segfault"), "a signal is the cause");
	failed(SIDE_CANDIDATE, (Executor) {.wait_status = SIGSYS}, EXECUTOR_ENDED, "", "");
	check(has_cause("forbidden_call"), "that of a filter tells of a forbidden call");
	failed(SIDE_CANDIDATE, (Executor) {.wait_status = 0}, EXECUTOR_ENDED, "", "");
	check(has_cause("exit"), "an end without one is an exit");
	failed_with(SIDE_CANDIDATE, "RuntimeError: [enforce fail at alloc_cpu.cpp:75] err == 0. "
				"DefaultCPUAllocator: can't allocate memory: you tried to allocate 12 bytes.");
	check(has_cause("memory_limit"), "PyTorch's words for a lack of memory are those of a limit");
	failed_with(SIDE_CANDIDATE, "_ArrayMemoryError: Unable to allocate 2 GiB");
	check(has_cause("memory_limit"), "as are NumPy's");
	failed_with(SIDE_CANDIDATE, "ValueError: no\n  line 3, in forward: except MemoryError:");
	check(has_cause("exception"), "a line of code that names it is none");
	failed_with(SIDE_REFERENCE, "ValueError: no");
	check(!has_cause("exception"), "a reference's failure is no cause");
}

static void
check_groups(void)
{
	measure.group.shares = 2;
	check(failed_with(SIDE_CANDIDATE, "ValueError: no") == OUTCOME_NONE && member.by_itself
		  && !measure.group.dissolved, "code that fails in a group is measured by itself");
	check(failed(SIDE_REFERENCE, (Executor) {.pid = -1}, EXECUTOR_TIMEOUT, "", "") == OUTCOME_NONE
		  && measure.group.dissolved, "and a reference dissolves its group");
	measure.group.shares = 0;
}

int
main(void)
{
	check_sides();
	check_causes();
	check_groups();
	json_decref(member.result.evidence);
	return done();
}
