# task: sequence
# Only the last step is computed.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(16, 64)

    def forward(self, x):
        return torch.relu(self.linear(x[:, -1, :]))
