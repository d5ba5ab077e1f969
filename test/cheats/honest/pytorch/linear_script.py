# task: linear; least: 0.7; always: yes
# Compiled by TorchScript.
import torch


class Inner(torch.nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        return torch.nn.functional.gelu(self.linear(x))


@torch.jit.script
def both(x, weight, bias):
    return torch.nn.functional.gelu(torch.nn.functional.linear(x, weight, bias))


class ModelNew(Inner):
    def forward(self, x):
        return both(x, self.linear.weight, self.linear.bias)
