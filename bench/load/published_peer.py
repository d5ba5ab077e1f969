"""One published code beside its reference without cudal1, on a GPU: published_peer.py REFERENCE CANDIDATE DEVICE LOCK... [--apart]

Prints one object as JSON: what KernelBench's check says (seed 42, one process, 5 inputs, allclose 1e-2), what it does not look at
(streams, inputs, outputs that hardly depend on the inputs), and, with --apart, seconds a run of each side in a process of its own,
medians of blocks that take turns while the locks are held, and the spread of the blocks' ratios (their quartiles' distance over their
median).
"""
import contextlib
import fcntl
import json
import statistics
import subprocess
import sys
import time

import torch

TOLERANCE = 1e-2
TRIALS = 5
BLOCKS = 15
BLOCK_SECONDS = 0.03


def seed(number):
    torch.manual_seed(number)
    torch.cuda.manual_seed(number)


def load(path):
    space = {"__name__": "published"}
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), space)
    return space


def model_of(space, made_by, name, device):
    arguments = made_by["get_init_inputs"]() if "get_init_inputs" in made_by else []
    seed(42)
    arguments = [a.to(device) if isinstance(a, torch.Tensor) else a for a in arguments]
    with torch.no_grad():
        return space[name](*arguments).to(device)


def inputs_of(space, number, device):
    seed(number)
    return [x.to(device) if isinstance(x, torch.Tensor) else x for x in space["get_inputs"]()]


def tensors(output):
    return [output] if isinstance(output, torch.Tensor) else [t for t in output if isinstance(t, torch.Tensor)]


def close(a, b):
    return len(a) == len(b) and all(x.shape == y.shape and x.dtype == y.dtype
                                    and torch.allclose(x.float(), y.float(), atol=TOLERANCE, rtol=TOLERANCE) for x, y in zip(a, b))


@torch.no_grad()
def check(reference_space, candidate_space, device):
    found = {"passes": True, "joined": True, "untouched": True, "vacuous": True}
    reference = model_of(reference_space, reference_space, "Model", device)
    candidate = model_of(candidate_space, reference_space, "ModelNew", device)
    first = None
    for trial in range(TRIALS):
        inputs = inputs_of(reference_space, 1000 + trial, device)
        own = [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]
        seed(trial)
        expected = [t.clone() for t in tensors(reference(*inputs))]
        torch.cuda.synchronize()
        seed(trial)
        output = tensors(candidate(*own))
        at_once = [t.clone() for t in output]
        torch.cuda.synchronize()
        found["passes"] &= close(output, expected)
        found["joined"] &= close(at_once, expected)
        found["untouched"] &= all(torch.equal(x, y) for x, y in zip(inputs, own) if isinstance(x, torch.Tensor))
        if first is None:
            first = expected
        elif not close(first, expected):
            found["vacuous"] = False
    return found


@torch.no_grad()
def serve(path, reference_path, name, device):
    """Answers each line on stdin, a number of runs, by the seconds that they take."""
    reference_space = load(reference_path)
    space = reference_space if name == "Model" else load(path)
    model = model_of(space, reference_space, name, device)
    inputs = [inputs_of(reference_space, i, device) for i in range(3)]
    for _ in range(5):
        for one in inputs:
            model(*one)
    torch.cuda.synchronize()
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        for run in range(int(line)):
            model(*inputs[run % 3])
        torch.cuda.synchronize()
        print(time.perf_counter() - start, flush=True)


@contextlib.contextmanager
def held(locks, kind):
    with contextlib.ExitStack() as stack:
        for path in locks:
            fcntl.flock(stack.enter_context(open(path, "ab")), kind)
        yield


def start(reference_path, candidate_path, device):
    """A process for each side, both ready, or none."""
    children = [subprocess.Popen([sys.executable, __file__, "--serve", path, reference_path, name, device], text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                for path, name in ((reference_path, "Model"), (candidate_path, "ModelNew"))]
    # what code prints comes before
    return children if all("ready\n" in iter(child.stdout.readline, "") for child in children) else end(children)


def end(children):
    for child in children:
        child.kill()
        child.wait()
    return []


def ask(child, runs):
    child.stdin.write(f"{runs}\n")
    child.stdin.flush()
    return float(child.stdout.readline())


def timed(children):
    times = [[], []]
    try:
        runs = [max(3, min(2000, int(BLOCK_SECONDS / max(ask(child, 5) / 5, 1e-6)))) for child in children]
        for _ in range(BLOCKS):
            for side in (0, 1):
                ask(children[side], 3)
                times[side].append(ask(children[side], runs[side]) / runs[side])
    except (BrokenPipeError, ValueError):
        # a child that has ended
        return {}
    low, middle, high = statistics.quantiles([a / b for a, b in zip(*times)], n=4)
    return {"apart": [statistics.median(side) for side in times], "apart_spread": (high - low) / middle}


def main():
    if sys.argv[1] == "--serve":
        return serve(*sys.argv[2:6])
    reference, candidate, device, *locks = [a for a in sys.argv[1:] if a != "--apart"]
    # compiles, beside whatever others do
    spaces = load(reference), load(candidate)
    with held(locks, fcntl.LOCK_SH):
        result = check(*spaces, device)
        torch.cuda.empty_cache()
        children = start(reference, candidate, device) if "--apart" in sys.argv else []
    if children:
        with held(locks, fcntl.LOCK_EX):
            result |= timed(children)
        end(children)
    print("\n" + json.dumps(result))


main()
