class Model(torch.nn.Module):
    def forward(self, x, w):
        return torch.relu((x.bfloat16() @ w.to(torch.bfloat16)).float())


def get_inputs():
    return [torch.randn(256, 256), torch.randn(256, 256)]
