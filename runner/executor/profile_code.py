"""Keep a profile of a candidate: profile_code.py TOOL [OUTPUT [unsandboxed]] <JSON

TOOL is perf, ncu, timeline (PyTorch's own profiler, which reads CUPTI on a GPU), or "any" for perf
or ncu, that of the device. Without OUTPUT it only says what stands in the way of a profile, for
cudal1-measure to ask first. OUTPUT "counters" prints the tool and its counters as JSON; any other
is the file to write, but for its ending. No clock of a measurement runs beside a profiler.
It builds the code as a measurement does, with line numbers, and calls it in a sandbox: once to warm
up, then once for ncu or a timeline, and for a second under perf. What the code prints goes nowhere.
"""
import csv
import ctypes
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time

SECONDS = 1.0
LIMIT = 120
SUFFIX = {"perf": "perf.data", "ncu": "ncu-rep", "timeline": "trace.json"}
INITS = ("normal", "uniform", "integer", "zero")    # random.h: RandomInit
# passed in other registers than numbers of their sizes
SCALARS = {"float64": ctypes.c_double, "float32": ctypes.c_float}
# this script, the supervisor's cipher, the dtypes, and what makes modules, also in the sandbox
HERE = os.path.dirname(os.path.realpath(__file__))

EVENTS = ("task-clock", "cycles", "instructions", "branches", "branch-misses", "L1-dcache-loads",
          "L1-dcache-load-misses", "cache-references", "cache-misses", "dTLB-load-misses",
          "page-faults", "context-switches")
LINE = 64
# name and unit of each metric of ncu, and how those of several kernels become one
METRICS = {
    "gpu__time_duration.sum": ("GPU time", "s", sum),
    "dram__bytes_read.sum": ("bytes read", "B", sum),
    "dram__bytes_write.sum": ("bytes written", "B", sum),
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": ("use of memory", "%", None),
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": ("use of SMs", "%", None),
    "l1tex__throughput.avg.pct_of_peak_sustained_active": ("use of L1", "%", None),
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": ("use of L2", "%", None),
    "sm__warps_active.avg.pct_of_peak_sustained_active": ("occupancy", "%", None),
    "l1tex__t_sector_hit_rate.pct": ("L1 hits", "%", None),
    "lts__t_sector_hit_rate.pct": ("L2 hits", "%", None),
    "smsp__inst_executed.sum": ("warp instructions", "", sum),
    "launch__registers_per_thread": ("registers a thread", "", max),
}
UNITS = {"ns": 1e-9, "nsecond": 1e-9, "us": 1e-6, "usecond": 1e-6, "ms": 1e-3, "msecond": 1e-3,
         "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}


def in_sandbox(command, folder):
    """The command where it sees the system and a folder."""
    def each(option, paths):
        return [a for path in paths if os.path.exists(path) for a in (option, path, path)]
    shown = {"/usr", "/etc/alternatives", "/etc/ld.so.cache", "/opt", sys.prefix, sys.base_prefix,
             HERE}
    links = [a for path in ("/bin", "/lib", "/lib64") if os.path.islink(path)
             for a in ("--symlink", os.readlink(path), path)]
    nodes = [f"/dev/{name}" for name in sorted(os.listdir("/dev")) if name.startswith("nvidia")]
    return ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
            "--unshare-net", "--die-with-parent", "--new-session", "--setenv", "HOME", folder,
            "--setenv", "USER", "nobody",       # there is no passwd, and PyTorch asks for a name
            "--tmpfs", "/tmp", *each("--ro-bind", sorted(shown)), *links, "--proc", "/proc",
            "--dev", "/dev", *each("--dev-bind", nodes), "--bind", folder, folder,
            "--chdir", folder, *command]


def run(command, **more):
    """The exit status of a command, and the end of what it said."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=LIMIT, check=False, **more)
    return done.returncode, " ".join(done.stdout.decode(errors="replace").split())[-300:]


def build(job, folder, sandboxed):
    """Writes the sources, and compiles what has to be."""
    for name, text in ((job["source"], job["code"]), ("reference.py", job["task"]["reference"]),
                       ("task.json", json.dumps(job["task"]))):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            out.write(text)
    status, said = run(sandboxed(job["command"]), cwd=folder) if job["command"] else (0, "")
    if status:
        sys.exit(f"the code does not compile: {said}")


def calls_in(folder):
    """How many calls were counted, as the sandbox says."""
    try:
        with open(os.path.join(folder, "calls"), encoding="ascii") as file:
            return max(int(file.read(20)), 1)
    except (OSError, ValueError):
        sys.exit("the code ended before its calls could be counted")


def perf_counters(path, calls):
    """What perf stat counted, for one of so many calls, without what the processor lacks."""
    counted = {}
    with open(path, encoding="utf-8") as file:
        for value, _, event in (x.split(",")[:3] for x in file if x.count(",") > 2):
            if not value.startswith("<"):
                counted[event.split(":")[0]] = float(value)

    def each(event, factor=1):
        return counted[event] * factor / calls if event in counted else None

    def share(part, whole, factor=1):
        return counted[part] / counted[whole] * factor if part in counted and counted.get(whole) \
            else None

    def hits(missed, asked):
        return None if share(missed, asked) is None else max(100 - share(missed, asked, 100), 0)
    return [("core time", each("task-clock", 1e-3), "s"), ("cycles", each("cycles"), ""),
            ("instructions", each("instructions"), ""),
            ("instructions a cycle", share("instructions", "cycles"), ""),
            ("branches missed", share("branch-misses", "branches", 100), "%"),
            ("L1 hits", hits("L1-dcache-load-misses", "L1-dcache-loads"), "%"),
            ("last-level hits", hits("cache-misses", "cache-references"), "%"),
            ("bytes from memory", each("cache-misses", LINE), "B"),
            ("TLB misses", each("dTLB-load-misses"), ""), ("page faults", each("page-faults"), ""),
            ("context switches", each("context-switches"), "")]


def plain(path, mode, **more):
    """A file of the sandbox's, opened: no link that code has put there, and no pipe to wait at."""
    return open(path, mode, **more, opener=lambda name, flags: os.open(
        name, flags | os.O_NOFOLLOW | os.O_NONBLOCK))


def ncu_counters(path):
    """What ncu tells of the kernels of one call; shares are weighted by the kernels' times."""
    with plain(path, "r", encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    wrong = next((x for x in lines if x.startswith("==ERROR==")), None)
    kernels = {}
    for row in csv.DictReader(x for x in lines if x.startswith('"')):
        try:
            value = float(row["Metric Value"].replace(",", ""))
        except ValueError:
            continue            # n/a: this GPU does not have it
        kernels.setdefault(row["ID"], {})[row["Metric Name"]] = value * UNITS.get(
            row["Metric Unit"], 1)
    if wrong or not kernels:
        sys.exit(f"ncu: {wrong.split('==')[-1].strip()}" if wrong else "ncu saw no kernel")
    rows = [("kernels", len(kernels), "")]
    for metric, (name, unit, joined) in METRICS.items():
        of = [(k[metric], k.get("gpu__time_duration.sum", 1)) for k in kernels.values()
              if metric in k]
        if of and joined:
            rows.append((name, joined(value for value, _ in of), unit))
        elif of:
            rows.append((name, sum(v * t for v, t in of) / (sum(t for _, t in of) or 1), unit))
    return rows


def prepare(tool, job):
    """The profiler, its program and whether the code runs on a GPU; or the end, with the reason."""
    on_gpu = (job["task"]["language"] == "cuda"
              or job.get("device", "").startswith(("cuda", "GPU-")))
    tool = tool if tool != "any" else "ncu" if on_gpu else "perf"
    if tool not in SUFFIX:
        sys.exit(f"it takes {', '.join(SUFFIX)}")
    if tool == "timeline":
        if job["task"].get("signature"):
            sys.exit("a timeline is PyTorch's, and this task is in another language")
        return tool, None, on_gpu
    program = shutil.which(tool) or shutil.which(tool, path="/usr/local/cuda/bin")
    if not program:
        sys.exit(f"there is no {tool} on the PATH"
                 f"{' (Debian has it in linux-perf)' if tool == 'perf' else ''}")
    if tool == "ncu" and not on_gpu:
        sys.exit("ncu profiles codes on a GPU, and this task is measured on a CPU")
    if tool == "ncu":
        try:
            opened = ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
        except OSError:
            opened = False
        if not opened:
            sys.exit("there is no GPU here")
    if tool == "perf":
        status, said = run([program, "record", "-q", "-o", os.devnull, "true"])
        if status:
            sys.exit(f"perf may not sample here: {said}")
    return tool, program, on_gpu


def keep(tool, output, unsandboxed):
    """Runs the code under the profiler, and prints its counters where these are the output."""
    job = json.load(sys.stdin)
    tool, program, on_gpu = prepare(tool, job)
    if not output:
        return
    if output != "counters":
        output += f".{SUFFIX[tool]}"
    if on_gpu and job.get("device"):
        os.environ.update(CUDA_DEVICE_ORDER="PCI_BUS_ID",
                          CUDA_VISIBLE_DEVICES=job["device"].removeprefix("cuda:"))
    folder = os.path.realpath(tempfile.mkdtemp(prefix="cudal1-profile-"))
    # of perf, where the code can't reach it
    counted = tempfile.NamedTemporaryFile(prefix="cudal1-counted-")
    kept = output if output != "counters" else counted.name
    kept = kept if tool == "perf" else os.path.join(folder, f"profile.{SUFFIX[tool]}")
    control, told = os.pipe()

    def sandboxed(command):
        return command if unsandboxed else in_sandbox(command, folder)
    if tool == "perf":
        command = [program, "record", "-q"] if output != "counters" \
            else [program, "stat", "-x,", "-e", ",".join(EVENTS)]
        command += ["-D", "-1", f"--control=fd:{control}", "-o", kept]
    elif tool == "ncu":
        command = [program, "--profile-from-start", "off", "--target-processes", "all", "-f", "-o"]
        if output == "counters":
            command[-2:] = ["--csv", "--print-units", "base", "--clock-control", "none",
                            "--metrics", ",".join(METRICS), "--log-file"]
        command += [kept]
    else:
        command = []
    # standard output is the profiler's alone; of an error both speak
    command += ["/bin/sh", "-c", 'exec "$@" >/dev/null', "sh"]
    inside = [sys.executable, "-I", os.path.realpath(__file__), "--inside", tool, folder,
              str(told), "cuda" if on_gpu else "cpu"]
    # ncu speaks with what it injects, so it is in the sandbox, too
    command = command + sandboxed(inside) if tool == "perf" else sandboxed(command + inside)
    try:
        build(job, folder, sandboxed)
        status, said = run(command, pass_fds=(control, told))
        rows = []
        if tool == "ncu" and output == "counters" and os.path.exists(kept):
            rows = ncu_counters(kept)  # says what was wrong, if anything
        if status or not os.path.exists(kept):
            sys.exit(f"{tool} ended with status {status}{': ' if said else ''}{said}")
        if output != kept and output != "counters":
            with plain(kept, "rb") as source, open(output, "wb") as out:
                shutil.copyfileobj(source, out)
        if output == "counters":
            rows = rows or perf_counters(kept, calls_in(folder))
            print(json.dumps({"tool": tool, "counters": [
                {"name": n, "value": v, "unit": u} for n, v, u in rows if v is not None]}))
        else:
            print(output)
    except subprocess.TimeoutExpired:
        sys.exit(f"{tool} did not end within {LIMIT} s")
    except OSError as e:
        sys.exit(f"the profile could not be made: {e}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# inside the sandbox

def compiled(folder, task, device):
    """A call of compiled code, which waits for its end, with arguments as in measurements."""
    import torch_common
    import wire
    fill = torch_common.load_guard(HERE).cudal1_guard_fill
    library = ctypes.CDLL(os.path.join(folder, "code.so"))
    solve = getattr(library, task["signature"].get("entry", "solve"))
    solve.restype = None
    driver = ctypes.CDLL("libcuda.so.1") if device == "cuda" else None
    if driver:
        context = ctypes.c_void_p()
        if (driver.cuInit(0) or driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
                or driver.cuCtxSetCurrent(context)):
            sys.exit("the GPU can't be opened")
    arguments, kept = [], []
    for argument in task["signature"]["args"]:
        dtype, low, high = argument["dtype"], argument.get("low", 0), argument.get("high")
        code, size = wire.DTYPES[dtype]
        kind = argument.get("init") or ("normal" if "float" in dtype else "integer")
        kind = "zero" if argument["role"] == "out" else kind
        high = high if high is not None else 127 if kind == "integer" and dtype != "bool" else 1
        if argument["role"] == "scalar":
            kind, low = "uniform" if "float" in dtype else "integer", argument["value"]
            high = low
        n = math.prod(argument.get("shape", ()))
        memory = ctypes.create_string_buffer(size * n + 64)
        address = ctypes.addressof(memory) + -ctypes.addressof(memory) % 64
        fill(address, n, code, INITS.index(kind), low, high)
        kept.append(memory)
        if argument["role"] == "scalar":
            passed = SCALARS.get(dtype) or getattr(ctypes, f"c_uint{8 * size}")
            arguments.append(passed.from_address(address))
            continue
        if driver:
            pointer = ctypes.c_uint64()
            if (driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(size * n))
                    or driver.cuMemcpyHtoD_v2(pointer, ctypes.c_void_p(address),
                                              ctypes.c_size_t(size * n))):
                sys.exit("out of GPU memory")
            address = pointer.value
        arguments.append(ctypes.c_void_p(address))

    def call(kept=kept):
        # `kept` holds the memory as long as the call can be made
        solve(*arguments)
        if driver:
            driver.cuCtxSynchronize()
    return call


def loaded(folder, device):
    """A call of a module's forward, which waits for its end."""
    import torch
    import torch_common as common
    modules = []
    for name, file in (("task", "reference.py"), ("candidate", "code.py")):
        with open(os.path.join(folder, file), encoding="utf-8-sig") as source:
            modules.append(common.make_module(name, source.read()))
    task, code = modules
    arguments, keywords = common.init_arguments(task)
    model = (code.ModelNew if hasattr(code, "ModelNew") else code.Model)(*arguments, **keywords)
    model.to(device)
    values = common.inputs_on(device, task)

    def call():
        with torch.no_grad():
            model(*values)
        if device == "cuda":
            torch.cuda.synchronize()
    return call


def call_inside(tool, folder, told, device):
    sys.path.append(HERE)
    with open(os.path.join(folder, "task.json"), encoding="utf-8") as file:
        task = json.load(file)
    call = compiled(folder, task, device) if task.get("signature") else loaded(folder, device)
    call()
    if tool == "timeline":
        from torch.profiler import profile
        with profile() as recorded:
            call()
        recorded.export_chrome_trace(os.path.join(folder, f"profile.{SUFFIX[tool]}"))
        return
    if tool == "ncu":
        driver = ctypes.CDLL("libcuda.so.1")
        driver.cuProfilerStart()
        call()
        driver.cuProfilerStop()
        return
    os.write(told, b"enable\n")
    end = time.monotonic() + SECONDS
    calls = 0
    while time.monotonic() < end:
        call()
        calls += 1
    with open(os.path.join(folder, "calls"), "w", encoding="ascii") as file:
        file.write(str(calls))


if __name__ == "__main__":
    if sys.argv[1] == "--inside":
        call_inside(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
    else:
        keep(sys.argv[1], "".join(sys.argv[2:3]), sys.argv[3:] == ["unsandboxed"])
