import torch.nn as nn


class ModelNew(nn.Module):
    """A diagonal matrix scales rows: N * M products instead of N * N * M."""

    def forward(self, A, B):
        return A.unsqueeze(1) * B
