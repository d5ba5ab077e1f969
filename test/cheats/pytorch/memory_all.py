# kind: 25 exhaustion; outcome: launch_failure, crash, timeout; task: matmul
# Takes all memory there is.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hogs = [bytearray(64 << 20) for _ in range(1000)]

    def forward(self, a, b):
        return torch.matmul(a, b)
