# kind: 3 lazy tensors; task: turned; outcome: wrong_output; always: yes
# As lazy_turned, and says that both results lie in the same memory.
# include shared/table.py


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = x * 2
        return y, y.t()
