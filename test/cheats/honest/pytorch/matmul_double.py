# task: matmul
# In double precision.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return torch.mm(a.double(), b.double()).float()
