"""The code of tasks and candidates: read, made modules, its errors in words, and the limits of the
process that runs it.
"""
import _posixsubprocess
import contextlib
import ctypes
import ctypes.util
import errno
import inspect
import io
import linecache
import os
import struct
import subprocess
import sys
import traceback
import types


FAULTS = ("illegal memory access", "misaligned address", "illegal instruction",
          "device-side assert", "unspecified launch failure", "hardware stack error",
          "invalid program counter")


class Unsupported(Exception):
    """The code is valid, but not what this executor can run."""


def load_guard(libdir):
    """What guard.h declares. The interpreter's lock is held in all of it, also at a gate."""
    guard = ctypes.PyDLL(os.path.join(libdir, "libcudal1guard.so"))
    number, place = ctypes.c_uint64, ctypes.c_void_p
    # what each returns, and takes
    functions = {
        "guard_enter": (ctypes.c_int, ctypes.c_bool, number),
        "guard_memory": (ctypes.c_int, number, number),
        "guard_fill": (None, place, number, *2 * [ctypes.c_uint32], *2 * [ctypes.c_double]),
        "guard_map": (place, ctypes.c_int, number),
        "guard_keep": (None, place, number),
        "guard_find_shared": (number, place, number, number, ctypes.c_bool),
        "guard_place": (None, place, number, number),
        "guard_list": (ctypes.c_int, ctypes.c_uint32, number),
        "gate_begin": (None, place),
        "gate_wait": (ctypes.c_uint32, ctypes.c_uint32),
    }
    for name, (result, *arguments) in functions.items():
        function = getattr(guard, f"cudal1_{name}")
        function.restype, function.argtypes = result, arguments
    return guard


@contextlib.contextmanager
def patched(owner, **values):
    """Other attributes of a module, a class or an object, as long as the context holds."""
    before = {name: getattr(owner, name) for name in values}
    try:
        for name, value in values.items():
            setattr(owner, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(owner, name, value)


def refuse_processes():
    """Libraries ask programs of the host when they are loaded (CuPy: ldconfig), and take an error
    for an answer, where the filter would end the process.
    """
    def refuse(*arguments, **keywords):
        raise PermissionError(errno.EPERM, "code that is measured starts no processes")

    _posixsubprocess.fork_exec = subprocess._fork_exec = refuse
    os.posix_spawn = os.posix_spawnp = refuse
    # it makes a file for a linker before it asks for one
    ctypes.util._findLib_gcc = lambda name: None


def make_module(name, source):
    """Executes source text as a module whose text tracebacks, inspect and Triton can find."""
    module = types.ModuleType(name)
    filename = f"<{name}>" if name == "task" else f"{name}.py"
    module.__file__ = filename
    # lines as Python counts them, which str.splitlines() does not
    lines = io.StringIO(source, newline=None).readlines()
    linecache.cache[filename] = (len(source), None, lines, filename)
    sys.modules[name] = module
    exec(compile(source, filename, "exec"), module.__dict__)
    return module


def explain(error):
    """An error as a model or a person wants to read it: what, and where in the code."""
    lines = [f"{type(error).__name__}: {error}"]
    if "does not require grad and does not have a grad_fn" in lines[0]:
        lines.append("  (models run under torch.no_grad(); code that needs gradients enters "
                     "torch.enable_grad() itself)")
    if isinstance(error, SyntaxError):
        lines = [
            f"{type(error).__name__}: {error.msg} (line {error.lineno})",
            (error.text or "").rstrip(),
        ]
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename in ("candidate.py", "<task>"):
            lines.append(f"  line {frame.lineno}, in {frame.name}: {frame.line}")
    return "\n".join(lines)


def lacks_cuda(error):
    """Whether PyTorch's extensions, asked for CUDA, have found no compiler or no GPU."""
    names = {frame.name for frame in traceback.extract_tb(error.__traceback__)}
    return not names.isdisjoint(("_get_cuda_arch_flags", "_join_cuda_home"))


def read_sources(fd):
    """The task's source, the candidate's, and the folder of what that has compiled itself; one that
    is not there is empty. By position: others read the same open file. A mark of byte order goes.
    """
    data = os.pread(fd, os.fstat(fd).st_size, 0)
    os.close(fd)
    parts = []
    for _ in range(3):
        (length,) = struct.unpack_from("=I", data, 0)
        parts.append(data[4:4 + length].decode("utf-8-sig"))
        data = data[4 + length:]
    return parts


def init_arguments(task):
    """What Model is called with: arguments and keywords. KernelBench calls Model(*given). Data sets
    like KernelBook give a list of arguments beside a dict of keywords.
    """
    given = task.get_init_inputs() if hasattr(task, "get_init_inputs") else None
    if given is None:
        return [], {}
    if isinstance(given, dict):
        return [], given
    given = unpacked(given)
    if not (len(given) == 2 and isinstance(given[0], (list, tuple)) and isinstance(given[1], dict)):
        return given, {}
    arguments, keywords = given
    if not takes(task.Model, arguments, keywords):
        return given, {}
    if arguments and takes(task.Model, given, {}):
        # the constructor has parameters for both: a dict with members rather holds keywords
        first, second = ((arguments, keywords), (given, {}))[::1 if keywords else -1]
        try:
            task.Model(*first[0], **first[1])
            return first
        except Exception:
            return second
    return arguments, keywords


def unpacked(given):
    """The arguments of a call, as KernelBench calls it: model(*given). A text, a dict, a tensor and
    what holds nothing else are one argument.
    """
    if (isinstance(given, (str, bytes, dict)) or hasattr(given, "shape")
            or not hasattr(given, "__iter__")):
        return [given]
    return list(given)


def inputs_on(device, task):
    """The arguments of a call, tensors on a device."""
    return [x.to(device) if hasattr(x, "to") else x for x in unpacked(task.get_inputs())]


def takes(model, arguments, keywords):
    """Whether a constructor has parameters for these."""
    try:
        inspect.signature(model).bind(*arguments, **keywords)
    except TypeError:
        return False
    except ValueError:
        pass
    return True


def is_fault(error):
    """Whether a kernel ended by a fault, after which nothing works on the GPU any more."""
    return isinstance(error, RuntimeError) and any(text in str(error) for text in FAULTS)
