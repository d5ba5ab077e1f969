# kind: 12 reused memory; task: gpu_matmul; outcome: wrong_output; first: yes
# Memory that was just freed may hold the answer.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return torch.empty(a.shape[0], b.shape[1], device=a.device)
