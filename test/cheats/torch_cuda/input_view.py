# kind: 14 inputs as outputs; task: gpu_matmul; outcome: wrong_output, launch_failure, cheat
# Returns an input.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return a
