# task: linear
# In two halves.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        return torch.cat([torch.nn.functional.gelu(self.linear(part)) for part in x.chunk(2)])
