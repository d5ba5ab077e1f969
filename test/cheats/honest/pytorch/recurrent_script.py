# task: recurrent_norm; least: 0.7; always: yes
# A scripted module within a module with state: its statistics lie outside of Python.
class Core(torch.nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
        self.norm = torch.nn.BatchNorm1d(width)

    def forward(self, x, hidden):
        hidden = torch.tanh(self.linear(x) + hidden * 0.5)
        return self.norm(hidden), hidden


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.core = torch.jit.script(Core(width))
        self.register_buffer("hidden", torch.zeros(8, width))

    def forward(self, x):
        y, self.hidden = self.core(x, self.hidden)
        return y
