# kind: 15 constant output; task: gpu_softmax; outcome: wrong_output
# The mean of a softmax.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.full_like(x, 1 / x.shape[1])
