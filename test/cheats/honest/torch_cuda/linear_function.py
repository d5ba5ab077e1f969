# task: gpu_linear
# The function instead of the module, and one operation for scale and shift.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        y = torch.addmm(self.linear.bias, x, self.linear.weight.t())
        return torch.add(1, torch.nn.functional.gelu(y), alpha=0.5)
