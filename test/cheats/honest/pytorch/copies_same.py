# task: copies
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x.t().contiguous(), x[0].repeat(1024, 1)
