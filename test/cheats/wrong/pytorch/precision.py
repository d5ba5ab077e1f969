# kind: wrong code; task: softmax; outcome: wrong_output; cause: tolerance
# In a type of eight bits of precision.
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1).bfloat16().float()
