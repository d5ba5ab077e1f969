# task: attention_cached; always: yes
# State in two buffers for all layers, which are written to.
class ModelNew(torch.nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.qkv = torch.nn.ModuleList([torch.nn.Linear(width, 3 * width) for _ in range(layers)])
        self.register_buffer("keys", torch.stack([torch.randn(4, 16, width) for _ in range(layers)]))
        first, last = torch.randn(4, 16, width), torch.randn(4, 16, width)
        self.register_buffer("values", torch.stack([first] * (layers - 1) + [last]))

    def forward(self, x):
        for layer, keys, values in zip(self.qkv, self.keys, self.values):
            q, k, v = layer(x).chunk(3, -1)
            keys.copy_(torch.cat([keys[:, 1:], k], 1))
            values.copy_(torch.cat([values[:, 1:], v], 1))
            x = x + torch.softmax(q @ keys.transpose(1, 2) / 8, -1) @ values
        return x
