import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """More digits than the inputs have."""

    def forward(self, A, B):
        return (torch.diag(A.double()) @ B.double()).float()
