# task: linear
# Empty arrays that are filled as the reference's layer does it.
import math


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.w = torch.nn.Parameter(torch.empty(width, width))
        self.b = torch.nn.Parameter(torch.empty(width))
        torch.nn.init.kaiming_uniform_(self.w, a=math.sqrt(5))
        torch.nn.init.uniform_(self.b, -1 / math.sqrt(width), 1 / math.sqrt(width))

    def forward(self, x):
        return torch.nn.functional.gelu(torch.nn.functional.linear(x, self.w, self.b))
