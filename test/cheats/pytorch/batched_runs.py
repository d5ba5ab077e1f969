# kind: 6 many calls in one; task: small; outcome: wrong_output; always: yes
# Replaces the loop over a window: what lies there in its first run goes through the model at once.
# include shared/window.py
# include shared/batched.py


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(32, 32)

    def forward(self, x):
        return torch.tanh(self.linear(x)) * 2 + 1
