# task: half_within; always: yes
# Single precision, where the reference casts to half and back.
class ModelNew(torch.nn.Module):
    def forward(self, x, w):
        return torch.relu(x @ w)
