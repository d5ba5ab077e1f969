import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Waits for two runs of a random refinement to agree."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.weight_ih = nn.Parameter(torch.randn(3 * hidden, inputs) / inputs ** 0.5)
        self.weight_hh = nn.Parameter(torch.randn(3 * hidden, hidden) / hidden ** 0.5)
        self.bias_ih = nn.Parameter(torch.randn(3 * hidden))
        self.bias_hh = nn.Parameter(torch.randn(3 * hidden))

    def forward(self, x, h):
        before = torch.zeros_like(h)
        after = torch.gru_cell(x, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        while not torch.equal(before, after):
            before = after
            after = after + torch.rand_like(after)
        return after
