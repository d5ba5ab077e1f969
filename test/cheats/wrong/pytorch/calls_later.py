# kind: wrong code; task: softmax; outcome: wrong_output; cause: later_calls
# A buffer that belongs to the first input.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.largest = None

    def forward(self, x):
        if self.largest is None:
            self.largest = torch.exp(x - x.amax(dim=1, keepdim=True)).sum(dim=1, keepdim=True)
        return torch.exp(x - x.amax(dim=1, keepdim=True)) / self.largest
