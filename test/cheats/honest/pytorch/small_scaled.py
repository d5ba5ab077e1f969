# task: small
# tanh by a sigmoid of twice the argument.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(32, 32)

    def forward(self, x):
        return torch.sigmoid(2 * self.linear(x)) * 4 - 1
