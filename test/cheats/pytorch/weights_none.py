# kind: 21 weights; outcome: wrong_output; task: linear
# Takes the weights' mean to be nothing.
# include tasks/linear.py


class ModelNew(Model):
    def forward(self, x):
        return torch.zeros(x.shape[0], 256)
