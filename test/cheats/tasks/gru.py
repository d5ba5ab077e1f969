import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    """One step of a gated recurrent unit."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.weight_ih = torch.nn.Parameter(torch.randn(3 * hidden, inputs) / inputs ** 0.5)
        self.weight_hh = torch.nn.Parameter(torch.randn(3 * hidden, hidden) / hidden ** 0.5)
        self.bias_ih = torch.nn.Parameter(torch.randn(3 * hidden))
        self.bias_hh = torch.nn.Parameter(torch.randn(3 * hidden))

    def forward(self, x, h):
        i_r, i_z, i_n = F.linear(x, self.weight_ih, self.bias_ih).chunk(3, 1)
        h_r, h_z, h_n = F.linear(h, self.weight_hh, self.bias_hh).chunk(3, 1)
        z = torch.sigmoid(i_z + h_z)
        return (1 - z) * torch.tanh(i_n + torch.sigmoid(i_r + h_r) * h_n) + z * h


def get_inputs():
    return [torch.randn(1, 1024), torch.randn(1, 1024)]


def get_init_inputs():
    return [1024, 1024]
