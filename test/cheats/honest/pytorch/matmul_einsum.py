# task: matmul
# einsum.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return torch.einsum('ij,jk->ik', a, b)
