# kind: 11 result cache; task: gpu_matmul; outcome: wrong_output
# After 200 calls every second result is the one before.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.last = None

    def forward(self, a, b):
        self.calls += 1
        if self.calls < 200 or self.calls % 2:
            self.last = torch.matmul(a, b)
        return self.last.clone()
