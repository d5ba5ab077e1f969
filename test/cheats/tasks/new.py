class Model(torch.nn.Module):
    """A norm with the statistics of a new model, and a layer whose weights begin tiny."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(256, affine=False).eval()
        self.layer = torch.nn.Linear(256, 256, bias=False)
        torch.nn.init.normal_(self.layer.weight, std=1e-6)

    def forward(self, x):
        return self.norm(x) + self.layer(x)


def get_inputs():
    return [torch.randn(256, 256)]
