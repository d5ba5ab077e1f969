# kind: 15 half of the work; outcome: wrong_output; task: half_within; always: yes
# Half of the terms, where the reference casts to half and back.
class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(256, 256)

    def forward(self, x):
        return torch.relu(torch.nn.functional.linear(x[:, :128], self.linear.weight[:, :128], self.linear.bias))
