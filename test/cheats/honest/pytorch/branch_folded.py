# task: branch; always: yes
# The scale goes into the layer when the model is made.
class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(128)
        layer = torch.nn.Linear(128, 128)
        scale = torch.nn.Parameter(1e-6 * torch.ones(128))
        self.weight = torch.nn.Parameter(layer.weight * scale[:, None])
        self.bias = torch.nn.Parameter(layer.bias * scale)

    def forward(self, x):
        return torch.addmm(x + self.bias, self.norm(x), self.weight.t())
