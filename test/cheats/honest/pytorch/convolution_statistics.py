# task: convolution
# The statistics by hand.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.convolution = torch.nn.Conv2d(width, 16, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(16)

    def forward(self, x):
        y = self.convolution(x)
        variance, mean = torch.var_mean(y, (0, 2, 3), unbiased=False, keepdim=True)
        scale = self.norm.weight.view(1, -1, 1, 1) * torch.rsqrt(variance + self.norm.eps)
        return torch.relu_((y - mean) * scale + self.norm.bias.view(1, -1, 1, 1))
