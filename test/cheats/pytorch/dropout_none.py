# kind: 21 dropout; outcome: wrong_output; task: dropout; always: yes
# Leaves the dropout out, as in evaluation.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = torch.nn.Linear(width, width)
        self.second = torch.nn.Linear(width, width)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))
