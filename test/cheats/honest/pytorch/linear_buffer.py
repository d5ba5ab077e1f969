# task: linear
# A buffer of its own for what lies between, not for the result.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
        self.register_buffer('buffer', torch.empty(64, width), persistent=False)

    def forward(self, x):
        torch.addmm(self.linear.bias, x, self.linear.weight.t(), out=self.buffer)
        return torch.nn.functional.gelu(self.buffer)
