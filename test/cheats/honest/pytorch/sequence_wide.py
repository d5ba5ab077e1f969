# task: sequence; least: 0.17; always: yes
# A view with gaps of a larger result.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(16, 64)

    def forward(self, x):
        y = torch.relu(self.linear(x))
        return torch.cat([y, y, y, y], 2)[:, -1, 192:]
