# task: gpu_linear
# Scripted, so that pointwise parts are fused.
import torch


@torch.jit.script
def finish(y):
    return torch.nn.functional.gelu(y) * 0.5 + 1


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        return finish(self.linear(x))
