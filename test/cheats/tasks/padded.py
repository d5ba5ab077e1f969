PAD = 2432


class Model(torch.nn.Module):
    """A short run of whose result nearly all is the same each time."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(128, 128)

    def forward(self, x):
        y = torch.tanh(self.linear(x)) * 2 + 1
        y = torch.relu(self.linear(y)) * 0.5 - 0.1
        return torch.nn.functional.pad(y, (0, PAD))


def get_inputs():
    return [torch.randn(4, 128)]
