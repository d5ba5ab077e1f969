"""What builds, and parents of executors, are told of code that compiles itself (build_torch.c).

Executors start no compilers, and nothing may ask for a GPU before a fork: what extensions, Triton
and torch.compile want to know of their compilers before they look anything up is answered here.
"""
import importlib
import os
import pathlib
import signal
import sys
import tempfile
import types
import torch

import torch_common as common

# a call without the device may take so long, compilers apart
CALL_SECONDS = 20


def import_extensions():
    """Nothing may ask for a GPU before a fork, and this import does."""
    try:
        with common.patched(torch.cuda, is_available=lambda: True):
            return importlib.import_module("torch.utils.cpp_extension")
    except ImportError:
        # it wants setuptools; code that wants it fails by itself
        return types.SimpleNamespace(_write_ninja_file_and_build_library=None)


def use_built():
    """Before any fork: extensions are loaded as they were built, and Triton asks its compiler's
    version while it may start one.
    """
    extensions = import_extensions()
    extensions._write_ninja_file_and_build_library = lambda *arguments, **keywords: None
    if "TRITON_CACHE_DIR" in os.environ:
        remember_triton()


def compile_once():
    """In builds for a GPU: an extension that was compiled, or refused, before the device was held
    is not compiled again with it. Codes often go on without it, or write its source anew.
    """
    extensions = import_extensions()
    compile_library = extensions._write_ninja_file_and_build_library

    def compile_new(**wanted):
        mark = pathlib.Path(wanted["build_directory"], wanted["name"] + ".asked")
        sources = [pathlib.Path(source).read_text(errors="replace") for source in wanted["sources"]]
        asked = repr((sorted(wanted.items()), sources))
        before = mark.read_text(errors="replace") if mark.exists() else ""
        if before == "built " + asked:
            return
        if before == "refused " + asked:
            raise RuntimeError(f"Error building extension '{wanted['name']}', as before")
        signal.alarm(0)
        try:
            compile_library(**wanted)
        except RuntimeError:
            mark.write_text("refused " + asked, errors="replace")
            raise
        mark.write_text("built " + asked, errors="replace")

    extensions._write_ninja_file_and_build_library = compile_new


def call_without_device(model, task):
    """Calls a model for a GPU where there is none, as far as it gets, with tensors that have a
    shape and a device but no numbers. What it compiles when it is first called is compiled then.
    """
    signal.signal(signal.SIGALRM, lambda *ignored: os._exit(0))
    signal.alarm(CALL_SECONDS)
    fake = importlib.import_module("torch._subclasses.fake_tensor")
    # neither may look for the device; the second has two names
    torch.cuda._lazy_init = fake.init_cuda_context = fake.init_gpu_context = lambda *device: None
    mode = fake.FakeTensorMode()
    # a model may hold tensors in other places than those below
    mode.allow_non_fake_inputs = True
    available, torch.cuda.is_available = torch.cuda.is_available, lambda: False
    with mode:
        torch.cuda.is_available = available
        for module in model.modules() if isinstance(model, torch.nn.Module) else ():
            for held in (vars(module), module._parameters, module._buffers):
                for name, value in held.items():
                    if isinstance(value, torch.Tensor):
                        held[name] = mode.from_tensor(value).to("cuda:0")
        model(*common.inputs_on("cuda:0", task))


def remember_triton():
    """What each process would ask before it looks a kernel up, and remember: a hash of Triton's own
    400 MB, folders, versions.
    """
    questions = [
        ("triton.runtime.cache", "triton_key"), ("triton.compiler.compiler", "triton_key"),
        ("triton.runtime.build", "platform_key"), ("triton.backends.nvidia.driver", "libcuda_dirs"),
    ]
    arch = os.environ.get("TORCH_CUDA_ARCH_LIST", "").replace(".", "")
    if arch:
        questions.append(("triton.backends.nvidia.compiler", "get_ptxas_version", int(arch)))
    for module, name, *arguments in questions:
        try:
            getattr(importlib.import_module(module), name)(*arguments)
        except Exception:
            # not in this version, or not on this host: a process that wants it asks by itself
            pass


def use_compiled():
    """Before any fork, for torch.compile, which no fork could use if it asked for a GPU."""
    def refuse(*arguments, **keywords):
        raise RuntimeError("not before a fork")

    tempfile.tempdir = "/"
    with common.patched(torch.cuda, is_available=lambda: True, device_count=lambda: 1,
                        _lazy_init=refuse):
        for attempt in (ask_no_compiler, import_compiler, remember_compilers):
            try:
                attempt()
            except Exception as error:
                # without torch.compile, or another version's: what code asks of it fails by itself
                print(f"{type(error).__name__}: {error}", flush=True)


def ask_no_compiler():
    """In builds and in executors: no compiler is started before what was compiled is looked up, as
    for headers of generated C++, or to try whether it knows the processor's instructions.
    """
    config = importlib.import_module("torch._inductor.config")
    if hasattr(config, "cpp_cache_precompile_headers"):
        config.cpp_cache_precompile_headers = False
    if hasattr(getattr(config, "cpp", None), "vec_isa_ok"):
        config.cpp.vec_isa_ok = True


def import_compiler():
    # writes a module to a file as it is imported, of which nothing is wanted here
    remote = types.ModuleType("torch.distributed.nn.jit.instantiator")
    remote.instantiate_scriptable_remote_module_template = (
        remote.instantiate_non_scriptable_remote_module_template
    ) = lambda *arguments: None
    sys.modules.setdefault(remote.__name__, remote)
    importlib.import_module("torch._dynamo")
    importlib.import_module("torch._inductor.compile_fx")


def remember_compilers():
    importlib.import_module("torch._inductor.codecache").torch_key()
    builder = importlib.import_module("torch._inductor.cpp_builder")
    builder.get_compiler_version_info(builder.get_cpp_compiler())
