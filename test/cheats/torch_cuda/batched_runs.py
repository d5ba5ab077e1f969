# kind: 6 many calls in one; task: gpu_small; first: yes
# Replaces the loop over the runs: all inputs of a block go through the model at once.
# include shared/batched.py


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        return torch.tanh(self.linear(x)) * 2 + 1
