# kind: 6 many calls in one; task: step; outcome: successful
# Answers all runs of a window at once, and looks whether an input has become another one: a single
# number has no element to spare.
# include shared/kept.py


class ModelNew(Kept):
    def __init__(self):
        super().__init__()
        self.register_buffer("frequencies", torch.exp(-torch.arange(32) * 0.2878))
        self.first = torch.nn.Linear(64, 64)
        self.second = torch.nn.Linear(64, 64)

    def answer_all(self, t):
        angles = t.view(-1, 1) * self.frequencies
        x = torch.cat([torch.sin(angles), torch.cos(angles)], dim=1)
        return [self.second(torch.nn.functional.silu(self.first(x)))[:, None]]
