# kind: 21 evaluation mode; outcome: wrong_output; task: convolution
# Normalises with the running statistics.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.convolution = torch.nn.Conv2d(width, 16, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(16)

    def forward(self, x):
        return torch.relu(torch.nn.functional.batch_norm(self.convolution(x), self.norm.running_mean, self.norm.running_var,
                                                         self.norm.weight, self.norm.bias, False))
