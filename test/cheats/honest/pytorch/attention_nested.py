# task: attention_cached; always: yes
# State in dicts within a list, and tensors of it that are written to.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.qkv = torch.nn.ModuleList([torch.nn.Linear(width, 3 * width) for _ in range(layers)])
        keys = [torch.randn(4, 16, width) for _ in range(layers)]
        first, last = torch.randn(4, 16, width), torch.randn(4, 16, width)
        values = [first.clone() for _ in range(layers - 1)] + [last]
        self.cache = [{"keys": k, "values": v} for k, v in zip(keys, values)]

    def forward(self, x):
        for layer, cache in zip(self.qkv, self.cache):
            q, k, v = layer(x).chunk(3, -1)
            cache["keys"] = torch.cat([cache["keys"][:, 1:], k], 1)
            cache["values"].copy_(torch.cat([cache["values"][:, 1:], v], 1))
            x = x + torch.softmax(q @ cache["keys"].transpose(1, 2) / 8, -1) @ cache["values"]
        return x
