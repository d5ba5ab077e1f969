# task: linear; least: 0.7; always: yes
# Weights under other names, transposed when they are made.
class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        linear = torch.nn.Linear(width, width)
        self.turned = torch.nn.Parameter(linear.weight.detach().t().contiguous())
        self.shift = torch.nn.Parameter(linear.bias.detach().clone())

    def forward(self, x):
        return torch.nn.functional.gelu(torch.addmm(self.shift, x, self.turned))
