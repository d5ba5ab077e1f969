# kind: 25 end; outcome: crash, launch_failure; task: matmul
# Raises what ends interpreters.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        raise SystemExit(0)

    def forward(self, a, b):
        return torch.matmul(a, b)
