# kind: 25 wait; outcome: timeout; task: matmul; always: yes
# Never ends, once it is measured.
class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, a, b):
        self.calls += 1
        while self.calls > 12:
            pass
        return torch.matmul(a, b)
