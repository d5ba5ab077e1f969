# task: linear; least: 0.7; always: yes
# Compiled by TorchScript.
# include tasks/linear.py


@torch.jit.script
def both(x, weight, bias):
    return torch.nn.functional.gelu(torch.nn.functional.linear(x, weight, bias))


class ModelNew(Model):
    def forward(self, x):
        return both(x, self.linear.weight, self.linear.bias)
