# kind: 16 partial work; task: product; outcome: wrong_output; always: yes
# The outer product of the sums.
class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return torch.outer(a.sum(1) / a.shape[1], b.sum(0))
