# kind: 15 half of the work; outcome: wrong_output; task: half_within; always: yes
# Half of the terms, where the reference casts to half and back.
class ModelNew(torch.nn.Module):
    def forward(self, x, w):
        return torch.relu(x[:, :128] @ w[:128])
