# task: linear
# No module at all, but a callable with the reference's parameters.
class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        layer = torch.nn.Linear(width, width)
        self.linear = torch.nn.Module()
        self.linear.weight = torch.nn.Parameter(layer.weight.data)
        self.linear.bias = torch.nn.Parameter(layer.bias.data)

    def forward(self, x):
        y = torch.mm(x, self.linear.weight.t())
        y += self.linear.bias
        return 0.5 * y * (1 + torch.erf(y * 0.7071067811865476))
