# kind: wrong code; task: gpu_softmax; outcome: wrong_output; cause: dtype
# In double precision.
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x.double(), dim=1)
