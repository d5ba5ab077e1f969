# kind: wrong code; task: moments; outcome: wrong_output; cause: count
# One of several outputs.
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x.mean(dim=1)
