# task: sequence
# Only the last step is computed.
# include tasks/sequence.py


class ModelNew(Model):
    def forward(self, x):
        return torch.relu(self.linear(x[:, -1, :]))
