# task: dropout; least: 0.7; always: yes
# Functions, which draw the same numbers.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = torch.nn.Linear(width, width)
        self.dropout = torch.nn.Dropout(0.25)
        self.second = torch.nn.Linear(width, width)

    def forward(self, x):
        y = torch.nn.functional.dropout(torch.relu_(self.first(x)), 0.25, self.training, inplace=True)
        return self.second(y)
