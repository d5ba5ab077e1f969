# kind: wrong code; task: softmax; outcome: wrong_output; cause: shape
# With a dimension more.
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)[None]
