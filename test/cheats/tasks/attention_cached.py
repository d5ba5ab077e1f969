class Model(torch.nn.Module):
    """A decoder's step over a window of keys and values, which it keeps."""

    def __init__(self, width, layers):
        super().__init__()
        self.qkv = torch.nn.ModuleList([torch.nn.Linear(width, 3 * width) for _ in range(layers)])
        for i in range(layers):
            self.register_buffer(f"keys{i}", torch.randn(4, 16, width))
        # one tensor twice
        first, last = torch.randn(4, 16, width), torch.randn(4, 16, width)
        for i in range(layers):
            self.register_buffer(f"values{i}", first if i < layers - 1 else last)

    def forward(self, x):
        for i, layer in enumerate(self.qkv):
            q, k, v = layer(x).chunk(3, -1)
            keys = torch.cat([getattr(self, f"keys{i}")[:, 1:], k], 1)
            values = torch.cat([getattr(self, f"values{i}")[:, 1:], v], 1)
            setattr(self, f"keys{i}", keys)
            setattr(self, f"values{i}", values)
            x = x + torch.softmax(q @ keys.transpose(1, 2) / 8, -1) @ values
        return x


def get_inputs():
    return [torch.randn(4, 1, 64)]


def get_init_inputs():
    return [64, 3]
