"""event_timing.py [CANDIDATE [RUNS]], a task's file on standard input: prints the speedup of its reference against itself, or of a candidate's
file, as KernelBench's defaults time it, in one process: 3 untimed runs, then the mean of 100 (or RUNS) runs between events on the current stream."""
import sys
import torch

space = {}
exec(compile(sys.stdin.read(), "task", "exec"), space)
inputs = [x.cuda() for x in space["get_inputs"]()]
runs = int(sys.argv[2]) if len(sys.argv) > 2 else 100
candidate = space["Model"]
if len(sys.argv) > 1:
    other = {}
    with open(sys.argv[1], encoding="utf-8") as f:
        exec(compile(f.read(), sys.argv[1], "exec"), other)
    candidate = other["ModelNew"]


def seconds(made):
    with torch.device("cuda"):
        model = made(*space["get_init_inputs"]())
    for _ in range(3):
        model(*inputs)
    torch.cuda.synchronize()
    times = []
    for _ in range(runs):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        model(*inputs)
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return sum(times) / len(times)


with torch.no_grad():
    reference = seconds(space["Model"])
    print(reference / seconds(candidate))
