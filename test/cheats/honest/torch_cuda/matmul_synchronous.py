# task: gpu_matmul
# Waits for its own work.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        out = torch.mm(a, b)
        torch.cuda.synchronize()
        return out
