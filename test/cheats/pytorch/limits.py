# kind: 25 exhaustion; task: matmul; profile: small; outcome: successful, unstable, unverified; always: yes
# Reads its limits, raises them, and takes what they allow, in a run and where it may start compilers (it names cpp_extension).
import glob
import mmap
import os
import re
import resource
import threading

BUILD = "MAX_JOBS" in os.environ
MIB = 1 << 20


def refused(call, *arguments):
    try:
        return call(*arguments) in (-1, False)
    except (OSError, ValueError):
        return True


def write(path, text):
    with open(path, "r+b", 0) as file:
        return file.write(text)


def taken(take, piece, most):
    """How many MiB of memory there are this way."""
    kept = []
    try:
        while len(kept) * piece < most:
            kept.append(take(piece * MIB))
            memoryview(kept[-1])[0] = 1
    except (MemoryError, OSError, RuntimeError):
        pass
    return len(kept) * piece


def threads():
    stop = threading.Event()
    threading.stack_size(1 << 16)
    try:
        while threading.active_count() < 1000:
            threading.Thread(target=stop.wait, daemon=True).start()
    except RuntimeError:
        pass
    number = threading.active_count()
    stop.set()
    return number


def processes():
    """As many children as there may be, each of which waits for its end."""
    end = os.pipe()
    children = []
    try:
        while len(children) < 2000:
            child = os.fork()
            if child == 0:
                os.close(end[1])
                os.read(end[0], 1)
                os._exit(0)
            children.append(child)
    except OSError:
        pass
    os.close(end[1])
    for child in children:
        os.waitpid(child, 0)
    return len(children)


def look():
    limits = {"CORE": 0, "MSGQUEUE": 0, "MEMLOCK": 0, "NICE": 0, "RTPRIO": 0, **(
        {"NPROC": 256, "NOFILE": 256, "FSIZE": 256 * MIB, "DATA": 6 << 30, "AS": 8 << 30, "SIGPENDING": 256} if BUILD else
        {"NPROC": 64, "NOFILE": 64, "FSIZE": 16 * MIB, "DATA": 1 << 30, "AS": 3 << 30, "SIGPENDING": 128, "STACK": 64 * MIB})}
    for name, most in limits.items():
        number = getattr(resource, "RLIMIT_" + name)
        soft, hard = resource.getrlimit(number)
        if not (0 <= soft <= most and 0 <= hard <= most):
            yield f"{name} is {soft}, {hard}"
        if not refused(lambda: resource.setrlimit(number, (soft, hard + 1)) is None):
            yield f"{name} can be raised"
    cores = os.sched_getaffinity(0)
    if not BUILD and len(cores) != 1:
        yield f"runs on cores {cores}"
    every = set(range(1024))
    for name, call in {"cores": lambda: os.sched_setaffinity(0, every), "class": lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)),
                       "priority": lambda: os.setpriority(os.PRIO_PROCESS, 0, 19)}.items():
        if not refused(call) or os.sched_getaffinity(0) != cores:
            yield f"can change its {name}"
    with open("/proc/self/oom_score_adj", encoding="ascii") as file:
        if file.read() != "1000\n":
            yield "is not the first to go where memory is short"
    for path in ("/proc/self/oom_score_adj", "/proc/self/oom_adj", "/proc/self/autogroup", f"/proc/self/task/{os.getpid()}/oom_score_adj",
                 "/proc/1/oom_score_adj", "/proc/thread-self/oom_score_adj"):
        if os.path.exists(path) and not refused(write, path, b"0"):
            yield f"can write {path}"
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as file:
                names = {word.split(b"=")[0].decode() for word in file.read().split(b"\0") if word}
        except OSError:
            continue
        if names - set(os.environ) - {"PWD"}:
            yield f"{path} holds {names - set(os.environ)}"
    # its own, and where it may not start any the one that started it
    others = [p for p in os.listdir("/proc") if p.isdigit() and p not in ("1", str(os.getpid()))]
    if others:
        yield f"sees processes {others}"
    for name in os.environ:
        if re.search("PG|SEED|KEY|HOST|TOKEN|USER|CUDAL1", name):
            yield f"the environment holds {name}"
    folders = [f for f in ("/tmp", "/dev/shm", "/var/tmp", "/run", "/", "/usr", "/usr/lib", "/dev", "/proc", ".") if os.access(f, os.W_OK)]
    # what it has of its own goes with its process
    if set(folders) - {"/tmp", "."}:
        yield f"can write to {folders}"
    if BUILD:
        if processes() >= 256:
            yield "can start too many processes"
        return
    number = threads()
    if not 8 <= number <= 64:
        yield f"can start {number} threads"
    # a gigabyte beyond what the profile says is open to shared mappings
    for name, take, most in (("bytearray", bytearray, 256), ("private mapping", lambda n: mmap.mmap(-1, n, mmap.MAP_PRIVATE), 256),
                             ("tensor", lambda n: torch.empty(n, dtype=torch.uint8).numpy(), 256),
                             ("shared mapping", lambda n: mmap.mmap(-1, n), 0),
                             ("mapping of /dev/zero", lambda n: mmap.mmap(os.open("/dev/zero", os.O_RDWR), n), 256 + 1024)):
        got = taken(take, 32, 2 * most + 512)
        if got > most:
            yield f"a run may take {got} MiB: {name}"


# include shared/look.py
