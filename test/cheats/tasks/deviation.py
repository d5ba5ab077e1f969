class Model(torch.nn.Module):
    """Rows by their standard deviation."""

    def forward(self, x):
        return x / x.std(dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(16, 65536)]
