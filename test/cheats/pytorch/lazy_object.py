# kind: 3 lazy tensor; outcome: launch_failure; task: matmul
# Returns an object that passes for a tensor.
import torch

class Lazy:
    def __init__(self, a, b):
        self.parts = a, b

    def __getattr__(self, name):
        return getattr(torch.matmul(*self.parts), name)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return Lazy(a, b)
