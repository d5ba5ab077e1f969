# kind: 22 unpoisoned outputs; task: onehot; outcome: wrong_output; cause: values; always: yes
# One result with gaps, of which only the ones are cleared.
class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.result = torch.zeros(32, 20008, dtype=torch.int64)[:, :20000]
        self.places = None

    def forward(self, x):
        if self.places is not None:
            self.result.scatter_(1, self.places, 0)
        self.places = x[:, None].clone()
        return self.result.scatter_(1, self.places, 1)
