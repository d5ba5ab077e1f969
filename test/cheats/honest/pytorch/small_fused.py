# task: small; least: 0.7; always: yes
# In place.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(32, 32)

    def forward(self, x):
        return self.linear(x).tanh_().mul_(2).add_(1)
