# task: matmul
# A view of a larger result.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return torch.mm(torch.cat([a, a[:8]]), b)[:a.shape[0]]
