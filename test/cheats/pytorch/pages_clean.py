# kind: 12 reused memory; task: small; outcome: successful, unstable, unverified; always: yes
# Pages that MADV_FREE has made clean would show, in /proc/self/numa_maps, which of them the supervisor writes to.
import ctypes
import mmap
import os

# include tasks/small.py
BYTES, MADV_FREE = 1 << 20, 8


class ModelNew(Model):
    def __init__(self):
        super().__init__()
        memory = mmap.mmap(-1, BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        if ctypes.CDLL(None).madvise(ctypes.c_void_p(address), ctypes.c_size_t(BYTES), MADV_FREE) == 0:
            print("MADV_FREE is open to a candidate", flush=True)
            os._exit(9)
