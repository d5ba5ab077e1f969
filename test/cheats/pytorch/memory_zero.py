# kind: 25 exhaustion; outcome: launch_failure, crash, timeout; task: matmul; always: yes
# Shared mappings of /dev/zero count as no data.
import mmap
import os

import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        zero = os.open("/dev/zero", os.O_RDWR)
        self.hogs = []
        for _ in range(1000):
            hog = mmap.mmap(zero, 64 << 20, mmap.MAP_SHARED)
            for at in range(0, 64 << 20, 4096):
                hog[at] = 1
            self.hogs.append(hog)

    def forward(self, a, b):
        return torch.matmul(a, b)
