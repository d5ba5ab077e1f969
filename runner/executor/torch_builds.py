"""What an interpreter is told before it forks executors of code that compiles itself, so that they
find what a build left (build_torch.c).

Executors start no compilers, and nothing may ask for a GPU before a fork: what extensions, Triton
and torch.compile want to know of their compilers before they look anything up is answered here.
"""
import hashlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
import types
import torch

NOTE_BYTES = 1 << 16


def use_built():
    """Before any fork: extensions are loaded as they were built, and Triton asks its compiler's
    version while it may start one.
    """
    # the import asks whether there is a GPU, and a process that asks CUDA before a fork has none
    # after it
    asked = torch.cuda.is_available
    torch.cuda.is_available = lambda: True
    try:
        from torch.utils import cpp_extension
    except ImportError:
        # it wants setuptools; code that wants it fails by itself
        cpp_extension = types.SimpleNamespace()
    finally:
        torch.cuda.is_available = asked

    cpp_extension._write_ninja_file_and_build_library = lambda *arguments, **keywords: None
    if "TRITON_CACHE_DIR" in os.environ:
        remember_triton()


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
    """Before any fork, for torch.compile: it wants to know its compilers before it looks up what it
    compiled. None of that may ask for a GPU, which no fork could use then.
    """
    def refuse(*arguments, **keywords):
        raise RuntimeError("not before a fork")

    asked = torch.cuda.is_available, torch.cuda.device_count, torch.cuda._lazy_init
    torch.cuda.is_available, torch.cuda.device_count, torch.cuda._lazy_init = (
        lambda: True,
        lambda: 1,
        refuse,
    )
    tempfile.tempdir = "/"
    for attempt in (leave_headers, import_compiler, remember_compilers):
        try:
            attempt()
        except Exception as error:
            # without torch.compile, or another version's: what code asks of it fails by itself
            print(f"{type(error).__name__}: {error}", flush=True)
    torch.cuda.is_available, torch.cuda.device_count, torch.cuda._lazy_init = asked


def leave_headers():
    """Headers of generated C++ aren't compiled ahead: a compiler would be asked for them before
    what was compiled is looked up.
    """
    config = importlib.import_module("torch._inductor.config")
    if hasattr(config, "cpp_cache_precompile_headers"):
        config.cpp_cache_precompile_headers = False


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


def note_of_instructions(folder):
    return os.path.join(folder, "instructions")


def question(instructions, code):
    """Whether a processor has certain instructions, as PyTorch asks it."""
    return [
        str(instructions),
        str(getattr(instructions, "_arch_flags", "")),
        hashlib.sha256(code.encode()).hexdigest(),
    ]


def note_instructions():
    """In a build: which instructions code may use is found out by compiling some, and by a program
    that loads it. The answers are kept.
    """
    try:
        vectors = importlib.import_module("torch._inductor.cpu_vec_isa").VecISA
    except ImportError:
        return
    ask = vectors.check_build

    def check_build(self, code):
        asked = question(self, code)
        answer = ask(self, code)
        with open(note_of_instructions(os.environ["TORCHINDUCTOR_CACHE_DIR"]), "a") as note:
            note.write(json.dumps([asked, answer]) + "\n")
        return answer

    vectors.check_build = check_build


def remember_instructions():
    """In an executor on a CPU, before its code, when the build has left its answers: PyTorch itself
    would start a program that loads what was compiled to find out.
    """
    def refuse(*arguments, **keywords):
        raise RuntimeError("not here")

    folder = os.environ["TORCHINDUCTOR_CACHE_DIR"]
    try:
        # whatever a candidate has put in its place, nobody waits for it
        with open(
            note_of_instructions(folder),
            opener=lambda path, flags: os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK),
        ) as note:
            answers = [json.loads(line) for line in note.read(NOTE_BYTES).splitlines()]
        instructions = importlib.import_module("torch._inductor.cpu_vec_isa")
        ask = instructions.VecISA.check_build
        builder = importlib.import_module("torch._inductor.cpp_builder").CppBuilder
        # for what else is asked on the way, of compilers, and remembered
        instructions.VecISA.check_build = lambda self, code: (
            ask(self, code),
            [question(self, code), True] in answers,
        )[1]
        # its exceptions are named around the call
        names = dict(vars(subprocess), check_call=lambda *arguments, **keywords: 0)
        instructions.subprocess = types.SimpleNamespace(**names)
        compile_code, builder.build = builder.build, refuse
        try:
            instructions.pick_vec_isa()
        finally:
            builder.build = compile_code
    except Exception as error:
        print(f"{type(error).__name__}: {error}", flush=True)
