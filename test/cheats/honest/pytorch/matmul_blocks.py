# task: matmul
# In four blocks, written into one result.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        out = torch.empty(a.shape[0], b.shape[1])
        half = a.shape[0] // 2
        torch.mm(a[:half], b, out=out[:half])
        torch.mm(a[half:], b, out=out[half:])
        return out
