class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = torch.nn.Linear(width, width)
        self.dropout = torch.nn.Dropout(0.25)
        self.second = torch.nn.Linear(width, width)

    def forward(self, x):
        return self.second(self.dropout(torch.relu(self.first(x))))


def get_inputs():
    return [torch.randn(32, 128)]


def get_init_inputs():
    return [128]
