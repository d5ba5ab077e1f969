# kind: 25 end; outcome: crash; cause: segfault; task: matmul
# Reads where nothing is.
import ctypes

import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        ctypes.string_at(8)

    def forward(self, a, b):
        return torch.matmul(a, b)
