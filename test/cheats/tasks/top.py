import torch


class Model(torch.nn.Module):
    """The largest few of each row."""

    def forward(self, x):
        return torch.stack([torch.topk(row, 8).values for row in x])


def get_inputs():
    return [torch.randn(16, 128)]


def get_init_inputs():
    return []
