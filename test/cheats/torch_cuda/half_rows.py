# kind: 16 parts of the work; task: gpu_matmul; outcome: wrong_output
# Half of the rows.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        out = torch.zeros_like(a)
        half = a.shape[0] // 2
        torch.matmul(a[:half], b, out=out[:half])
        return out
