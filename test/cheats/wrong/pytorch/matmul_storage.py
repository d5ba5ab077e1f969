# kind: wrong code; task: matmul; outcome: wrong_output; cause: input_overwritten
# Right, but the result lies in the memory of the first input.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        a.copy_(torch.mm(a, b))
        return a
