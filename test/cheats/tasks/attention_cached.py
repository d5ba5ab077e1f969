import torch


class Model(torch.nn.Module):
    """A decoder's step over a window of keys and values, which it keeps."""

    def __init__(self, width, layers):
        super().__init__()
        self.qkv = torch.nn.ModuleList([torch.nn.Linear(width, 3 * width) for _ in range(layers)])
        self.keys = [torch.randn(4, 16, width) for _ in range(layers)]
        # one tensor twice
        first, last = torch.randn(4, 16, width), torch.randn(4, 16, width)
        self.values = [first] * (layers - 1) + [last]

    def forward(self, x):
        for i, layer in enumerate(self.qkv):
            q, k, v = layer(x).chunk(3, -1)
            self.keys[i] = torch.cat([self.keys[i][:, 1:], k], 1)
            self.values[i] = torch.cat([self.values[i][:, 1:], v], 1)
            x = x + torch.softmax(q @ self.keys[i].transpose(1, 2) / 8, -1) @ self.values[i]
        return x


def get_inputs():
    return [torch.randn(4, 1, 64)]


def get_init_inputs():
    return [64, 3]
