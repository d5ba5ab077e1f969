# kind: 25 exhaustion; profile: impatient; outcome: launch_failure, crash, timeout; task: matmul
# Calls itself without end.
import sys

import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        sys.setrecursionlimit(1 << 30)
        (lambda f: f(f))(lambda f: f(f))

    def forward(self, a, b):
        return torch.matmul(a, b)
