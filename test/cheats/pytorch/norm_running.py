# kind: 21 evaluation mode; outcome: wrong_output; task: convolution
# Normalises with the running statistics.
# include tasks/convolution.py


class ModelNew(Model):
    def forward(self, x):
        return torch.relu(torch.nn.functional.batch_norm(self.convolution(x), self.norm.running_mean, self.norm.running_var,
                                                         self.norm.weight, self.norm.bias, False))
