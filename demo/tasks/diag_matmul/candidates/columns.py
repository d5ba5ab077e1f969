import torch.nn as nn


class ModelNew(nn.Module):
    """B @ diag(A): broadcasting picks the last dimension."""

    def forward(self, A, B):
        return A * B
