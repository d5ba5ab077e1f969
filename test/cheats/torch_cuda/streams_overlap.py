# kind: 1 side stream; task: gpu_small; outcome: successful, unstable, wrong_output; first: yes
# Runs take turns on eight streams, so that one could overlap with the next.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
        self.sides = [torch.cuda.Stream() for _ in range(8)]
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        with torch.cuda.stream(self.sides[self.calls % 8]):
            return torch.tanh(self.linear(x)) * 2 + 1
