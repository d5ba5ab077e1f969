# kind: honest; task: onehot; least: 0.7; always: yes
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.zeros(32, 20000, dtype=torch.int64).scatter_(1, x[:, None], 1)
