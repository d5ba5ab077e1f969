# task: linear; least: 0.7; always: yes
# It holds things that a program which looks through a model may stumble on.
class Settings(dict):
    """Its names are its keys, so it has none of a dict's methods that is a key, too."""

    def __init__(self, **settings):
        super().__init__(settings)
        self.__dict__ = self


class Once(list):
    def __iter__(self):
        raise RuntimeError("is not to be iterated")


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
        self.settings = Settings(values=3, items=None)
        self.once = Once([1])
        self.numbers = [0.5] * 1000000
        self.round = []
        self.round.extend([self.round] * 1000)
        self.nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)])
        self.gone = torch.ones(1000000)
        self.gone.storage().resize_(0)
        self.meta = torch.empty(3, device="meta")
        self.sparse = torch.eye(5).to_sparse()
        self.packed = torch.quantize_per_tensor(torch.ones(5), 0.1, 0, torch.qint8)
        self.wide = torch.ones(1).expand(100000, 100000)

    def parameters(self):
        return self.linear.parameters()

    def forward(self, x):
        return torch.nn.functional.gelu(self.linear(x))
