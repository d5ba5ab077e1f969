# task: small; least: 0.3; always: yes
# The result is a buffer of the module, which each run writes again.
# include tasks/small.py


class ModelNew(Model):
    def __init__(self):
        super().__init__()
        self.register_buffer("result", torch.empty(4, 32), persistent=False)

    def forward(self, x):
        return torch.tanh(self.linear(x), out=self.result).mul_(2).add_(1)
