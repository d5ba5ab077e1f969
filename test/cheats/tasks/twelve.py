class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(128, 128)

    def forward(self, x):
        y = torch.tanh(self.linear(x)) * 2 + 1
        return tuple(y.clone() for _ in range(12))


def get_inputs():
    return [torch.randn(4, 128)]
