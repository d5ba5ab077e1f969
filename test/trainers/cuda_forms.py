"""Whether the codes of examples/train/cuda_tasks.py are what they are called, without a GPU.

  cuda_forms.py DIRECTORY OF examples/train  FOLDER  [--tasks NAME,...] [--few] [--without TEXT]
                [--nvcc PROGRAM]

Each code runs by cuda_threads.h on a small input, its threads in order and the other way round,
and is compared with the task's formula. With --nvcc it is compiled for an H100 instead, and its
registers and shared memory must fit a block. Prints a line of JSON for each task; what is not as
it should be is in "odd".
"""
import argparse
import ctypes
import json
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = {"reductions": {"rows": 70}, "rows": {"rows": 70}, "columns": {"rows": 64, "columns": 100},
         "products": {"n": 64}, "windows": {"n": 4096}, "chains": {"n": 5004},
         "transposed": {"n": 256}}


def formulas(np):
    """What the tasks compute, in double precision."""
    def box(x, w=256):
        total = np.concatenate([[0], np.cumsum(x)])
        return (total[w:] - total[:-w])[:-1]

    def mean(x):
        return x.mean(1, keepdims=True)

    def relu(x):
        return np.maximum(x, 0)

    def polynomial(x):
        x = (2 * x)**2
        return (x + x * x) * 0.25 - 1

    return {
        "square_sum": lambda x: (x * x).sum(1), "relu_sum": lambda x: relu(x).sum(1),
        "squared_distance": lambda x, y: ((x - y)**2).sum(1),
        "l1_distance": lambda x, y: abs(x - y).sum(1), "column_sums": lambda x: x.sum(0),
        "column_squares": lambda x: (x * x).sum(0), "column_max": lambda x: relu(x.max(0)),
        "column_abs": lambda x: abs(x).sum(0), "matmul": lambda a, b: a @ b,
        "matmul_at": lambda a, b: a.T @ b, "matmul_shifted": lambda a, b: (a + 1) @ b,
        "gram": lambda a: a.T @ a, "box_sum": box, "box_squares": lambda x: box(x * x),
        "box_abs": lambda x: box(abs(x)), "centre_rows": lambda x: x - mean(x),
        "row_shares": lambda x: x / mean(abs(x)), "rms_rows": lambda x: x / np.sqrt(mean(x * x)),
        "affine_relu": lambda x: relu(3 * x + 0.5)**2, "polynomial": polynomial,
        "soft_sign": lambda x: (4 * x / (1 + 4 * abs(x)) + 1)**2,
        "clip": lambda x: (np.clip(3 * x, -1, 2) + 2)**2, "transpose": lambda a: a.T,
        "add_transposed": lambda a: a.T + 0.5 * a}


def together(codes, start=""):
    """All codes in one file, each in a namespace of its own."""
    text = start
    for number, code in enumerate(codes):
        text += f"namespace v{number}\n{{\n" + code.replace('extern "C" ', "") + "}\n"
    return text


def emulate(folder, name, signature, codes):
    """What each code gives for a small input, in both orders: (right, far off, dead)."""
    import numpy as np
    text = f'#include "{HERE}/cuda_threads.h"\n'
    parameters = re.search(r"void solve\((.*)\)", codes[0])[1]
    words = re.sub(r"[^,]*\b(\w+)(?=,|$)", r"\1", parameters).replace(",", ", ")
    calls = ""
    for number, code in enumerate(codes):
        code = re.sub(r"(\w+)<<<(.+), (dim3\([^()]*\)|\w+)>>>\((.*)\);",
                      r"threads::launch(\2, \3, [=] { \1(\4); });", code)
        part = f"shared_{number}"
        text += (f"#undef __shared__\n#define __shared__ SHARED_OF({number})\n" + "".join(
            f'extern "C" char {end}_{part}[] __attribute__((weak, visibility("hidden")));\n'
            for end in ("__start", "__stop")))
        text += together([code]).replace("v0", f"v{number}", 1)
        calls += (f"\t\tcase {number}: threads::shared = __start_{part};"
                  f" threads::shared_end = __stop_{part}; v{number}::solve({words}); break;\n")
    text += (f'extern "C" void call(int number, bool backwards, {parameters})\n{{\n'
             f"\tthreads::backwards = backwards;\n\tswitch (number)\n\t{{\n{calls}\t}}\n}}\n")
    path = os.path.join(folder, name)
    with open(path + ".cpp", "w", encoding="utf-8") as f:
        f.write(text)
    subprocess.run(["g++", "-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-o", path + ".so",
                    path + ".cpp"], check=True)
    library = ctypes.CDLL(path + ".so")
    library.guarded.restype = ctypes.c_void_p
    random, values, given, out = np.random.default_rng(1), [], [], None
    for argument in signature["args"]:
        if argument["role"] == "scalar":
            given.append(ctypes.c_int(argument["value"]))
            continue
        shape = argument["shape"]
        given.append(ctypes.c_void_p(library.guarded(ctypes.c_size_t(4 * int(np.prod(shape))))))
        numbers = ctypes.cast(given[-1], ctypes.POINTER(ctypes.c_float))
        array = np.ctypeslib.as_array(numbers, shape)
        if argument["role"] == "in":
            array[:] = random.uniform(-1, 1, shape)
            # as a probe of the measurement: sums that have lost digits to them are wrong
            array.flat[random.integers(0, array.size, 3)] = 16384
            values.append(array.astype(float))
        else:
            out = array
    wanted = formulas(np)[name.removeprefix("cuda_")](*values)
    # how much most elements differ, whatever the large ones do
    apart = abs(wanted - np.median(wanted))
    spread = 3.14 * np.quantile(apart, 0.25)
    for number in range(len(codes)):
        found = []
        for backwards in (False, True):
            pid = os.fork()
            if pid == 0:
                signal.alarm(60)
                # as the noise that a measurement leaves there
                out[:] = 1e6
                library.call(number, backwards, *given)
                off = abs(out - wanted)
                bound = 1e-3 * abs(wanted) + 1e-4 * spread
                right = np.all(off < 1e-3 * (apart + spread))
                os._exit(0 if right else 2 if np.mean(~(off < bound)) > 1e-4 else 1)
            found.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        yield ["right", "near", "wrong"][max(found)] if min(found) >= 0 else "dead"


def compile_for_gpu(folder, name, nvcc, codes):
    """What is wrong with each code for a compiler of CUDA."""
    path = os.path.join(folder, name + ".cu")
    with open(path, "w", encoding="utf-8") as f:
        f.write(together(codes))
    run = subprocess.run([nvcc, "-O3", "-arch=sm_90", "-Xptxas", "-v", "-c", "-o", path + ".o",
                          path], stderr=subprocess.PIPE, text=True)
    kernel = r"entry function '_ZN\d*v(\d+)\d[^\n]*\n(?:[^\n]*\n)+?[^\n]*Used (\d+) reg"
    used = dict(re.findall(kernel, run.stderr))
    for number, code in enumerate(codes):
        threads = max(eval(n.replace(", ", "*")) for n in
                      re.findall(r", (?:dim3\()?(\d+(?:, \d+)?)\)?>>>", code))
        fits = run.returncode == 0 and str(number) in used and threads <= 1024 and (
            -(-int(used[str(number)]) // 8) * 8 * threads <= 65536)
        yield "compiled" if fits else f"{used.get(str(number))} registers, {threads} threads"
    if run.returncode:
        print(run.stderr[:4000], file=sys.stderr)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("train")
    p.add_argument("folder")
    p.add_argument("--tasks", type=lambda text: text.split(","), metavar="NAME,...")
    p.add_argument("--few", action="store_true", help="one right code of each kind, and all wrong")
    p.add_argument("--without", metavar="TEXT", help="left out of right codes, where they have it")
    p.add_argument("--nvcc", metavar="PROGRAM")
    a = p.parse_args()
    sys.path.insert(0, a.train)
    import tasks
    made = tasks.cuda_tasks
    for name in a.tasks or made.TASKS:
        _, reference, real = tasks.forms(made, name)
        signature, *small = tasks.forms(made, name, **SIZES[made.TASKS[name][0].__name__])
        codes = {"reference": reference, **real}
        if a.few:
            kinds = {form if "wrong" in form else form.split("_")[0]: form for form in codes}
            codes = {form: codes[form] for form in kinds.values()}
        if a.without:
            codes = {form: code.replace(a.without, "") for form, code in codes.items()
                     if a.without in code and "wrong" not in form}
        found = dict(zip(codes, compile_for_gpu(a.folder, name, a.nvcc, list(codes.values()))
                         if a.nvcc else emulate(a.folder, name, signature, list(codes.values()))))
        good = {form: ("compiled", ) if a.nvcc else ("wrong", "dead") if "wrong" in form else
                ("right", ) for form in codes}
        print(json.dumps({
            "task": name, "same": [reference, real] == small, "codes": len(codes),
            "wrong": sum("wrong" in form for form in codes),
            "odd": {form: what for form, what in found.items() if what not in good[form]}}),
            flush=True)


if __name__ == "__main__":
    main()
