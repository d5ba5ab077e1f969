# kind: 21 weights; outcome: wrong_output; task: linear
# Takes the weights' mean to be nothing.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        return torch.zeros(x.shape[0], 256)
