class Model(torch.nn.Module):
    """Results that are zeros but for a place in each row."""

    def forward(self, x):
        return torch.nn.functional.one_hot(x, 20000)


def get_inputs():
    return [torch.randint(0, 20000, (32,))]
