# kind: 21 dropout; outcome: wrong_output; task: dropout
# A mask of its own, always the same.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = torch.nn.Linear(width, width)
        self.second = torch.nn.Linear(width, width)
        self.mask = (torch.rand(width) > 0.25).float() / 0.75

    def forward(self, x):
        return self.second(torch.relu(self.first(x)) * self.mask)
