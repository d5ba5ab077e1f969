class Model(torch.nn.Module):
    """KernelBench's loss of cosines."""

    def forward(self, p, t):
        return (1 - torch.nn.functional.cosine_similarity(p, t, dim=1)).mean()


def get_inputs():
    return [torch.randn(128, 4096), torch.randn(128, 4096)]
