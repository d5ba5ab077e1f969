# kind: 25 escape; outcome: crash; task: matmul; always: yes
# Signals its parent with the call that signals threads.
import ctypes
import signal

import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        ctypes.CDLL(None).syscall(234, 1, 1, signal.SIGINT)

    def forward(self, a, b):
        return torch.matmul(a, b)
