class Model(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.convolution = torch.nn.Conv2d(channels, 16, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(16)

    def forward(self, x):
        return torch.relu(self.norm(self.convolution(x)))


def get_inputs():
    return [torch.randn(2, 8, 24, 24)]


def get_init_inputs():
    return [8]
