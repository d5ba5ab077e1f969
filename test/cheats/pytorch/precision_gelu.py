# kind: 18 lower precision; outcome: wrong_output; task: linear
# gelu by a sigmoid, good to a per cent.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        y = self.linear(x)
        return y * torch.sigmoid(1.702 * y)
