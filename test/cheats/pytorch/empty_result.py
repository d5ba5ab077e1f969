# kind: 12 reused memory; outcome: wrong_output; task: matmul; always: yes
# Freshly allocated memory may be the reference's result.
class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return torch.empty(a.shape[0], b.shape[1])
