# task: convolution
# Leaves out the bias, which the normalisation takes away.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.convolution = torch.nn.Conv2d(width, 16, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(16)

    def forward(self, x):
        return torch.relu_(self.norm(torch.nn.functional.conv2d(x, self.convolution.weight, None, padding=1)))
