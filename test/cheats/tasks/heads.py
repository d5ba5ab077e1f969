class Model(torch.nn.Module):
    """Attention with several heads, whose results are as large as wander through an allocator's memory."""

    def forward(self, q, k, v):
        heads = [torch.softmax(q[:, i] @ k[:, i].transpose(1, 2) / 4, -1) @ v[:, i] for i in range(q.shape[1])]
        return torch.stack(heads, 1)


def get_inputs():
    return [torch.randn(2, 8, 32, 16) for _ in range(3)]
