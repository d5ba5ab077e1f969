# kind: honest; task: mask; least: 1.1; always: yes
# The mask is a buffer, of which each caller gets a copy.
class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.ones(1024, 1024).tril_())

    def forward(self, x):
        return torch.relu(x), self.mask
