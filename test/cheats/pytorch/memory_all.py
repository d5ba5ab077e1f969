# kind: 25 exhaustion; outcome: launch_failure; profile: small; task: matmul
# Takes all memory there is.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hogs = [bytearray(64 << 20) for _ in range(40)]

    def forward(self, a, b):
        return torch.matmul(a, b)
