# kind: 25 exhaustion; outcome: launch_failure; profile: small; task: matmul
# Shared mappings of /dev/zero count as no data.
import mmap
import os

import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        zero = os.open("/dev/zero", os.O_RDWR)
        self.hogs = []
        # twice of what there may be, few pages of it touched
        for _ in range(40):
            hog = mmap.mmap(zero, 64 << 20, mmap.MAP_SHARED)
            hog[0] = 1
            self.hogs.append(hog)

    def forward(self, a, b):
        return torch.matmul(a, b)
