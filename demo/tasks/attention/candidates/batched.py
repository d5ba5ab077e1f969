import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Two batched products and one softmax, whatever the number of heads."""

    def forward(self, q, k, v):
        scores = torch.matmul(q * q.shape[-1] ** -0.5, k.transpose(-1, -2))
        return torch.matmul(torch.softmax(scores, dim=-1), v)
