"""The gate of a window (gate.h), for exec_torch.py.

The interpreter's lock is held while a process waits at its gate, so other threads of its code run
no Python meanwhile.
"""
import ctypes
import os

begin = wait = answer = None


def open_library(libdir):
    global begin, wait, answer
    library = ctypes.PyDLL(os.path.join(libdir, "libcudal1guard.so"))
    begin, wait, answer = (
        library.cudal1_gate_begin, library.cudal1_gate_wait, library.cudal1_gate_answer
    )
    begin.argtypes, begin.restype = (ctypes.c_void_p, ctypes.c_int), None
    wait.argtypes, wait.restype = (ctypes.c_uint32,), ctypes.c_int
    answer.argtypes, answer.restype = (ctypes.c_uint32,), None
