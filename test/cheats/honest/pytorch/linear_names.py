# task: linear; least: 0.7; always: yes
# The reference's names, and values that are to be copied.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width, bias=False)
        self.linear.bias = torch.nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return torch.nn.functional.gelu(self.linear(x))
