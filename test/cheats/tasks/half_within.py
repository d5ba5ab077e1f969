class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(256, 256)

    def forward(self, x):
        return torch.relu(torch.nn.functional.linear(x.bfloat16(), self.linear.weight.to(torch.bfloat16)).float() + self.linear.bias)


def get_inputs():
    return [torch.randn(256, 256)]
