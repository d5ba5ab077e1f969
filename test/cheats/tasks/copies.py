class Model(torch.nn.Module):
    """Results that are what came in, elsewhere, and more often."""

    def forward(self, x):
        return x.t().contiguous(), x[0].repeat(1024, 1)


def get_inputs():
    return [torch.randn(1024, 512)]
