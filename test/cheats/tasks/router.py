class Model(torch.nn.Module):
    def forward(self, x, gate):
        weight, chosen = torch.softmax(x @ gate, -1).topk(2, -1)
        return weight / weight.sum(-1, keepdim=True), chosen


def get_inputs():
    return [torch.randn(512, 256), torch.randn(256, 8) / 16]
