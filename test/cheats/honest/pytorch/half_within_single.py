# task: half_within; always: yes
# Single precision, where the reference casts to half and back.
class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(256, 256)

    def forward(self, x):
        return torch.relu(self.linear(x))
