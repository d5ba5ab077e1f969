class Model(torch.nn.Module):
    """So little work that the calls themselves are what takes time."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(32, 32)

    def forward(self, x):
        return torch.tanh(self.linear(x)) * 2 + 1


def get_inputs():
    return [torch.randn(4, 32)]
