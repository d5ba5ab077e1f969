# task: moments; least: 0.7; always: yes
# As a list, which counts the same.
class ModelNew(torch.nn.Module):
    def forward(self, x):
        mean = x.mean(1)
        return [mean, (x * x).mean(1) - mean * mean, x > 0, torch.max(x, 1)[1]]
