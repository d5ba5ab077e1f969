# task: heads; least: 1.5; always: yes
# Its results have 32 kB, and come in some thirty places.
class ModelNew(torch.nn.Module):
    def forward(self, q, k, v):
        return torch.softmax(q / 4 @ k.transpose(-1, -2), -1) @ v
