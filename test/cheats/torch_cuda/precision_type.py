# kind: 18 lower precision; task: gpu_linear; outcome: wrong_output
# Returns bfloat16.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        return (torch.nn.functional.gelu(self.linear(x)) * 0.5 + 1).bfloat16()
