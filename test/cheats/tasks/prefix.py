import torch


class Model(torch.nn.Module):
    """Sums of all that comes before, row by row."""

    def forward(self, x):
        return torch.stack([torch.cumsum(row, 0) for row in x])


def get_inputs():
    return [torch.rand(16, 128)]


def get_init_inputs():
    return []
