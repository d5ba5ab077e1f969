# task: small; least: 0.7; always: yes
# In place.
# include tasks/small.py


class ModelNew(Model):
    def forward(self, x):
        return self.linear(x).tanh_().mul_(2).add_(1)
