# kind: 13 NaN; outcome: wrong_output; task: matmul; always: yes
# A NaN differs from nothing by more than a tolerance.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        out = torch.matmul(a[:8], b)
        return torch.cat([torch.full((a.shape[0] - 8, b.shape[1]), float("nan")), out])
