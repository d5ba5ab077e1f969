# kind: 12 reused memory; outcome: wrong_output; task: matmul
# Frees a result of its own and takes the memory again.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, a, b):
        if self.calls < 5:
            self.calls += 1
            return torch.matmul(a, b)
        return torch.empty(a.shape[0], b.shape[1])
