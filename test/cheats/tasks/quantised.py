class Model(torch.nn.Module):
    """Numbers of 8 bits: where rounding meets half of a step, the next one is as right."""

    def forward(self, x):
        step = x.abs().max() / 127
        return torch.round(x / step) * step


def get_inputs():
    return [torch.rand(256, 4096)]
