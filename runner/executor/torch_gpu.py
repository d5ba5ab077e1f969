"""The GPU as PyTorch's executors see it: memory that the supervisor handed over, and cuDNN."""
import ctypes
import os
import types

import torch

from torch_common import Unsupported


class Gpu:
    """The GPU memory that the supervisor handed over: the slots of the inputs, and a pool for all
    that PyTorch allocates.
    """

    def __init__(self, library, pool_fd):
        self.library = library
        self.pool_fd = pool_fd
        self.inputs = self.base = self.bytes = 0

    def open(self, memory_fd, memory_bytes, pool_bytes, told=0):
        inputs, base = ctypes.c_uint64(), ctypes.c_uint64()
        error = self.library.cudal1_pool_open(
            memory_fd, ctypes.c_uint64(memory_bytes), self.pool_fd, ctypes.c_uint64(pool_bytes),
            ctypes.c_void_p(told), ctypes.byref(inputs), ctypes.byref(base),
        )
        if error != 0:
            raise Unsupported(f"the GPU can't be opened: the driver's error {error}")
        self.inputs, self.base, self.bytes = inputs.value, base.value, pool_bytes
        if self.pool_fd >= 0:
            os.close(self.pool_fd)
        # a first launch, so that the driver has opened what it needs before the guard
        probe = self.probe = torch.zeros(1, device="cuda")
        torch.cuda.synchronize()
        if pool_bytes > 0 and not 0 <= probe.data_ptr() - self.base < pool_bytes:
            raise Unsupported(
                "this PyTorch allocates GPU memory past libcudal1pool.so "
                "(is its CUDA runtime linked statically?)"
            )

    def change_inputs(self, memory_fd, memory_bytes):
        inputs = ctypes.c_uint64()
        error = self.library.cudal1_pool_change(
            memory_fd, ctypes.c_uint64(memory_bytes), ctypes.byref(inputs)
        )
        os.close(memory_fd)
        if error != 0:
            raise Unsupported(f"memory for inputs can't be mapped: the driver's error {error}")
        self.inputs = inputs.value

    def view(self, dtype, count, offset):
        # integers of its size, because the interface does not name each type
        interface = {
            "shape": (count,), "typestr": f"<i{torch.empty((), dtype=dtype).element_size()}",
            "data": (self.inputs + offset, False), "version": 3,
        }
        flat = torch.as_tensor(
            types.SimpleNamespace(__cuda_array_interface__=interface), device="cuda"
        )
        return flat.view(dtype)


def open_cudnn():
    """Before any fork: cuDNN opens its other libraries when it is first used, which takes a tenth
    of a second in each process.
    """
    with open("/proc/self/maps") as maps:
        found = {
            os.path.realpath(line.split(maxsplit=5)[5].rstrip())
            for line in maps
            if "/libcudnn.so." in line
        }
    for folder in {os.path.dirname(path) for path in found}:
        for name in sorted(os.listdir(folder)):
            if name.startswith("libcudnn_") and ".so." in name:
                try:
                    ctypes.CDLL(os.path.join(folder, name))
                except OSError as error:
                    print(error, flush=True)
