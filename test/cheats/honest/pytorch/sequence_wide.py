# task: sequence; least: 0.17; always: yes
# A view with gaps of a larger result.
# include tasks/sequence.py


class ModelNew(Model):
    def forward(self, x):
        y = torch.relu(self.linear(x))
        return torch.cat([y, y, y, y], 2)[:, -1, 192:]
