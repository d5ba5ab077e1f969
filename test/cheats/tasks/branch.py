class Model(torch.nn.Module):
    """A branch whose scale is learnt, and begins with 1e-6."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(128)
        self.layer = torch.nn.Linear(128, 128)
        self.scale = torch.nn.Parameter(1e-6 * torch.ones(128))

    def forward(self, x):
        return x + self.scale * self.layer(self.norm(x))


def get_inputs():
    return [torch.randn(256, 128)]
