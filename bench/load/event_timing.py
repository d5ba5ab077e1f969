"""A task's file on standard input: prints the speedup of its reference against itself as KernelBench's defaults time it, in one process:
3 untimed runs, then the mean of 100 runs between events on the current stream."""
import sys
import torch

space = {}
exec(compile(sys.stdin.read(), "task", "exec"), space)
inputs = [x.cuda() for x in space["get_inputs"]()]


def seconds():
    model = space["Model"](*space["get_init_inputs"]()).cuda()
    for _ in range(3):
        model(*inputs)
    torch.cuda.synchronize()
    times = []
    for _ in range(100):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        model(*inputs)
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return sum(times) / len(times)


with torch.no_grad():
    reference = seconds()
    print(reference / seconds())
