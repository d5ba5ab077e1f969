import torch


class Model(torch.nn.Module):
    """How often each of few values comes, row by row."""

    def forward(self, x):
        return torch.stack([torch.bincount(row, minlength=16) for row in x])


def get_inputs():
    return [torch.randint(0, 16, (12, 128))]


def get_init_inputs():
    return []
