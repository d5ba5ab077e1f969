# task: convolution; least: 0.34; always: yes
# Channels last, and so is what it returns.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.convolution = torch.nn.Conv2d(width, 16, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(16)
        self.convolution.to(memory_format=torch.channels_last)

    def forward(self, x):
        y = self.convolution(x.contiguous(memory_format=torch.channels_last))
        return torch.relu_(self.norm(y))
