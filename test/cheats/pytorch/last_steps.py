# kind: 16 partial work; task: steps; outcome: wrong_output; cause: probe; always: yes
# A new network forgets within a few dozen steps, so those before them are left out.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.network = torch.nn.GRU(32, 64, batch_first=True)

    def forward(self, x):
        return self.network(x[:, -64:])[1]
