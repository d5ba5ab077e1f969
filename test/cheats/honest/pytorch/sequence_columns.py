# task: sequence; least: 0.21; always: yes
# A turned view with wide gaps.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(16, 64)

    def forward(self, x):
        y = torch.relu(self.linear(x)).permute(2, 1, 0).contiguous()
        return y[:, -1, :].t()
