"""The gate of a window (gate.h), for exec_torch.py.

The interpreter's lock is held while a process waits at its gate, so other threads of its code run
no Python meanwhile.
"""
import ctypes
import os

begin = wait = answer = place = answer_at = None


def open_library(libdir):
    global begin, wait, answer, place, answer_at
    library = ctypes.PyDLL(os.path.join(libdir, "libcudal1guard.so"))
    begin, wait, answer, place, answer_at = (
        library.cudal1_gate_begin, library.cudal1_gate_wait, library.cudal1_gate_answer,
        library.cudal1_guard_place, library.cudal1_guard_answer,
    )
    begin.argtypes = ctypes.c_void_p, ctypes.c_int
    wait.argtypes, wait.restype = (ctypes.c_uint32,), ctypes.c_int
    answer.argtypes = (ctypes.c_uint32,)
    place.argtypes = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64
    answer_at.argtypes, answer_at.restype = (ctypes.c_uint32, ctypes.c_uint64), ctypes.c_int
    begin.restype = answer.restype = place.restype = None
