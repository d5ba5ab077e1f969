class Model(torch.nn.Module):
    """A result, and a mask that is the same in every run."""

    def forward(self, x):
        return torch.relu(x), torch.ones(1024, 1024).tril_()


def get_inputs():
    return [torch.randn(64, 64)]
