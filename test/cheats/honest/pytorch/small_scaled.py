# task: small
# tanh by a sigmoid of twice the argument.
# include tasks/small.py


class ModelNew(Model):
    def forward(self, x):
        return torch.sigmoid(2 * self.linear(x)) * 4 - 1
