class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        return torch.tanh(self.linear(x)) * 2 + 1


def get_inputs():
    return [torch.randn(16, 128)]


def get_init_inputs():
    return [128]
