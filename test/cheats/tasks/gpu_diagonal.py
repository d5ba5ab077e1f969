import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.tanh(torch.diagonal(x).sum() * 0.01) * 2 + 1


def get_inputs():
    return [torch.randn(2048, 2048)]


def get_init_inputs():
    return []
