import torch


class Model(torch.nn.Module):
    """So short a run that copying its arrays is a part of it, though they are small."""

    def forward(self, x):
        y = x * 0.9 + 0.1
        y = torch.relu(y) * 1.1 - 0.2
        y = torch.relu(y) * 0.7 + 0.3
        return y * x


def get_inputs():
    return [torch.randn(2, 2560)]


def get_init_inputs():
    return []
