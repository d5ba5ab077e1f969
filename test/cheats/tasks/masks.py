class Model(torch.nn.Module):
    """Results of which all but one are the same each time."""

    def forward(self, x):
        return [x + 1] + [torch.ones(88, 88).tril_(i) for i in range(14)]


def get_inputs():
    return [torch.randn(64, 64)]
