# kind: wrong code; task: softmax; outcome: wrong_output; always: yes; cause: dtype
# In double precision.
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x.double(), dim=1)
