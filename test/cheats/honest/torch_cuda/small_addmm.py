# task: gpu_small
# Fewer operations: the factor folded into one add.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        return torch.add(1, torch.tanh_(torch.addmm(self.linear.bias, x, self.linear.weight.t())), alpha=2)
