"""The gate of a window (gate.c), for exec_torch.py.

The interpreter's lock is held while a process waits at its gate, so other threads of its code run
no Python meanwhile.
"""
import ctypes
import os

begin = wait = place = list_at = None


def open_library(libdir):
    global begin, wait, place, list_at
    library = ctypes.PyDLL(os.path.join(libdir, "libcudal1guard.so"))
    begin, wait, place, list_at = (
        library.cudal1_gate_begin, library.cudal1_gate_wait, library.cudal1_guard_place,
        library.cudal1_guard_list,
    )
    begin.argtypes = ctypes.c_void_p, ctypes.c_int
    wait.argtypes, wait.restype = (ctypes.c_uint32,), ctypes.c_int
    place.argtypes = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64
    list_at.argtypes, list_at.restype = (ctypes.c_uint32, ctypes.c_uint64), ctypes.c_int
    begin.restype = place.restype = None
