# kind: 3 lazy tensors; task: turned; bound: 2.2; outcome: successful, unstable; always: yes
# The second result is a view of the first.
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = x * 2
        return y, y.t()
