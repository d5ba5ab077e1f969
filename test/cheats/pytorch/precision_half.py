# kind: 18 lower precision; outcome: wrong_output; task: matmul; always: yes
# Half precision in between.
class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return torch.matmul(a.bfloat16(), b.bfloat16()).float()
