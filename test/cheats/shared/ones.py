import torch


class Ones(torch.nn.Module):
    """Returns the same memory each time, of which only the ones of the run before are cleared."""

    def __init__(self, result):
        super().__init__()
        self.result = result
        self.places = None

    def forward(self, x):
        if self.places is not None:
            self.result.scatter_(1, self.places, 0)
        self.places = x[:, None].clone()
        return self.result.scatter_(1, self.places, 1)


