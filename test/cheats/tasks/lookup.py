class Model(torch.nn.Module):
    """Sums of numbers that lie all over a table, and some small operations on them."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(2097152))
        self.linear = torch.nn.Linear(64, 64)

    def look_up(self, index):
        return self.table[index].sum(2)

    def forward(self, index):
        y = self.look_up(index)
        for _ in range(8):
            y = torch.tanh(self.linear(y)) * 2 + 1
        return y


def get_inputs():
    return [torch.randint(0, 2097152, (1, 64, 128))]
