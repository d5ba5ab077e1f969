"""What an interpreter is told before it forks executors of code that compiles itself, so that they find what a build left (build.c).

Nothing may be compiled or written there any more, and nobody may ask for a GPU before a fork: compilers' versions, locks and
folders, which extensions, Triton and torch.compile want before they look anything up, are answered here.
"""
import importlib
import io
import os
import sys
import tempfile
import types
import torch


def use_built():
    """Before any fork: extensions are loaded as they were built, and Triton asks its compiler's version while it may start one."""
    # the import asks whether there is a GPU, and whoever asks CUDA before a fork has none after it
    asked = torch.cuda.is_available
    torch.cuda.is_available = lambda: True
    try:
        from torch.utils import cpp_extension
    except ImportError:
        # it wants setuptools; code that wants it fails by itself
        cpp_extension = types.SimpleNamespace()
    finally:
        torch.cuda.is_available = asked

    class Baton:
        def __init__(self, *arguments):
            pass

        def try_acquire(self):
            return True

        def wait(self):
            pass

        release = wait

    def open_source(name, mode="r", *arguments, **keywords):
        # older versions write the sources each time, as they are there already
        return io.StringIO() if "w" in mode else open(name, mode, *arguments, **keywords)

    cpp_extension.FileBaton = Baton
    cpp_extension.open = open_source
    cpp_extension._write_ninja_file_and_build_library = lambda *arguments, **keywords: None
    try:
        from triton.backends.nvidia import compiler, driver
        from triton.runtime import build
        # remembered by both, and asked for in every process before a compiled kernel is looked up
        for remembered in (getattr(driver, "libcuda_dirs", None), getattr(build, "platform_key", None)):
            if remembered:
                remembered()
        arch = os.environ.get("TORCH_CUDA_ARCH_LIST", "").replace(".", "")
        if arch:
            compiler.get_ptxas_version(int(arch))
    except Exception:
        pass


class NoLock:
    """In the place of locks on files that nobody writes to any more."""

    def __init__(self, *arguments, **keywords):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        pass

    def acquire(self, *arguments, **keywords):
        return self

    def release(self, *arguments, **keywords):
        pass


def use_compiled():
    """
    Before any fork, for torch.compile: it wants a folder for files that come and go, locks, and to know its compilers, before it looks up
    what it compiled. None of that may ask for a GPU, which no fork could use then.
    """
    def refuse(*arguments, **keywords):
        raise RuntimeError("not before a fork")

    asked = torch.cuda.is_available, torch.cuda.device_count, torch.cuda._lazy_init
    torch.cuda.is_available, torch.cuda.device_count, torch.cuda._lazy_init = lambda: True, lambda: 1, refuse
    tempfile.tempdir = "/"
    for attempt in (leave_headers, import_compiler, remember_compilers):
        try:
            attempt()
        except Exception as error:
            # without torch.compile, or another version's: what code asks of it fails by itself
            print(f"{type(error).__name__}: {error}", flush=True)
    torch.cuda.is_available, torch.cuda.device_count, torch.cuda._lazy_init = asked


def leave_headers():
    """Headers of generated C++ aren't compiled ahead: a compiler would be asked for them before what was compiled is looked up."""
    config = importlib.import_module("torch._inductor.config")
    if hasattr(config, "cpp_cache_precompile_headers"):
        config.cpp_cache_precompile_headers = False


def import_compiler():
    # writes a module to a file as it is imported, of which nothing is wanted here
    remote = types.ModuleType("torch.distributed.nn.jit.instantiator")
    remote.instantiate_scriptable_remote_module_template = remote.instantiate_non_scriptable_remote_module_template = lambda *arguments: None
    sys.modules.setdefault(remote.__name__, remote)
    importlib.import_module("torch._dynamo")
    importlib.import_module("torch._inductor.compile_fx")
    for name in ("filelock", "torch.utils._filelock", *(name for name in sys.modules if name.startswith("torch._inductor"))):
        module = sys.modules.get(name)
        if hasattr(module, "FileLock"):
            module.FileLock = NoLock


def remember_compilers():
    importlib.import_module("torch._inductor.codecache").torch_key()
    builder = importlib.import_module("torch._inductor.cpp_builder")
    builder.get_compiler_version_info(builder.get_cpp_compiler())


def remember_instructions():
    """Which instructions a processor's code may use: found out by compiling, so asked when the build has left its answers."""
    try:
        importlib.import_module("torch._inductor.cpu_vec_isa").pick_vec_isa()
    except Exception as error:
        print(f"{type(error).__name__}: {error}", flush=True)
