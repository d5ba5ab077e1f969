import torch


class Model(torch.nn.Module):
    """Results of a quarter of a megabyte, of which almost all is zeros."""

    def forward(self, x):
        return torch.nn.functional.one_hot(x, 1000)


def get_inputs():
    return [torch.randint(0, 1000, (32,))]


def get_init_inputs():
    return []
