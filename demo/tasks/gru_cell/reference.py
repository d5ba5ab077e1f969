import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """One step of a gated recurrent unit, gate by gate."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.weight_ih = nn.Parameter(torch.randn(3 * hidden, inputs) / inputs ** 0.5)
        self.weight_hh = nn.Parameter(torch.randn(3 * hidden, hidden) / hidden ** 0.5)
        self.bias_ih = nn.Parameter(torch.randn(3 * hidden))
        self.bias_hh = nn.Parameter(torch.randn(3 * hidden))

    def forward(self, x, h):
        w_ir, w_iz, w_in = self.weight_ih.chunk(3)
        w_hr, w_hz, w_hn = self.weight_hh.chunk(3)
        b_ir, b_iz, b_in = self.bias_ih.chunk(3)
        b_hr, b_hz, b_hn = self.bias_hh.chunk(3)
        r = torch.sigmoid(F.linear(x, w_ir, b_ir) + F.linear(h, w_hr, b_hr))
        z = torch.sigmoid(F.linear(x, w_iz, b_iz) + F.linear(h, w_hz, b_hz))
        n = torch.tanh(F.linear(x, w_in, b_in) + r * F.linear(h, w_hn, b_hn))
        return (1 - z) * n + z * h


BATCH = 4
INPUTS = 64
HIDDEN = 64


def get_inputs():
    return [torch.randn(BATCH, INPUTS), torch.randn(BATCH, HIDDEN)]


def get_init_inputs():
    return [INPUTS, HIDDEN]
