import torch

TABLES = []


class Model(torch.nn.Module):
    """Sums of numbers that lie all over a table, which no module holds, beside a larger one."""

    def __init__(self):
        super().__init__()
        self.large = torch.nn.Parameter(torch.randn(16777216))
        self.linear = torch.nn.Linear(64, 64)
        TABLES.append(torch.randn(2097152))

    def forward(self, index):
        y = TABLES[-1][index].sum(2) + self.large[0]
        for _ in range(8):
            y = torch.tanh(self.linear(y)) * 2 + 1
        return y


def get_inputs():
    return [torch.randint(0, 2097152, (1, 64, 128))]


def get_init_inputs():
    return []
