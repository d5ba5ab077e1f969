import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Never holds more than one row of scores a head."""

    def forward(self, q, k, v):
        rows = []
        for i in range(q.shape[2]):
            weights = torch.softmax((q[:, :, i:i + 1] * k).sum(-1) / q.shape[-1] ** 0.5, dim=-1)
            for _ in range(4):
                row = (weights.unsqueeze(-1) * v).sum(2, keepdim=True)
            rows.append(row)
        return torch.cat(rows, dim=2)
