import torch


class Model(torch.nn.Module):
    """Small images, one after the other: the calls themselves take most of the time."""

    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(4, 8, 3, padding=1)

    def forward(self, x):
        return torch.cat([torch.relu(self.convolution(image[None])) for image in x])


def get_inputs():
    return [torch.randn(6, 4, 12, 12)]


def get_init_inputs():
    return []
