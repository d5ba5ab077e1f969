class Model(torch.nn.Module):
    """Keeps a hidden state, and statistics that runs in training write and none reads."""

    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
        self.norm = torch.nn.BatchNorm1d(width)
        self.register_buffer("hidden", torch.zeros(8, width))

    def forward(self, x):
        self.hidden = torch.tanh(self.linear(x) + self.hidden * 0.5)
        return self.norm(self.hidden)


def get_inputs():
    return [torch.randn(8, 128)]


def get_init_inputs():
    return [128]
