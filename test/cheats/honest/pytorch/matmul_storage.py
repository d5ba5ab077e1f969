# task: matmul; always: yes
# The result lies in the first input's memory.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        a.copy_(torch.mm(a, b))
        return a
