# task: steps; least: 0.5
# Steps first, as the library has them.
class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.network = torch.nn.GRU(32, 64)

    def forward(self, x):
        return self.network(x.transpose(0, 1).contiguous())[1]
