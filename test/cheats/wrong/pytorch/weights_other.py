# kind: wrong code; task: linear; outcome: wrong_output; always: yes; cause: values
# Draws its weights in another order, under other names.
class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.offset = torch.nn.Parameter(torch.rand(width))
        self.factor = torch.nn.Parameter(torch.rand(width, width))

    def forward(self, x):
        return torch.nn.functional.gelu(torch.addmm(self.offset, x, self.factor.t()))
