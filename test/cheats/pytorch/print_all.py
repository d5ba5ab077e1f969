# kind: 25 exhaustion; outcome: launch_failure, crash; cause: printed; task: matmul
# Prints a gigabyte.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for _ in range(1 << 20):
            print("x" * 1024)

    def forward(self, a, b):
        return torch.matmul(a, b)
