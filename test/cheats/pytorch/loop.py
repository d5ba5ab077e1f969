# kind: 25 wait; profile: impatient; outcome: timeout; cause: slow_load; task: matmul
# Never ends.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        while True:
            pass

    def forward(self, a, b):
        return torch.matmul(a, b)
