# task: matmul; least: 0.7; always: yes
# The transposed product, returned as a view.
class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return torch.mm(b.t(), a.t()).t()
