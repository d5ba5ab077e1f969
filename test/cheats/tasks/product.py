class Model(torch.nn.Module):
    """A product of positive numbers, which is nearly one of their sums."""

    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.rand(128, 4096), torch.rand(4096, 128)]
