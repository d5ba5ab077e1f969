# task: linear; least: 0.7; always: yes
# Its weights have no shape before the first run.
class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.LazyLinear(width)

    def forward(self, x):
        return torch.nn.functional.gelu(self.linear(x))
