# kind: 21 dropout; outcome: wrong_output; task: dropout; always: yes
# Leaves the dropout out, as in evaluation.
# include tasks/dropout.py


class ModelNew(Model):
    def forward(self, x):
        return self.second(torch.relu(self.first(x)))
