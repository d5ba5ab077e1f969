# task: sequence; least: 0.21; always: yes
# A turned view with wide gaps.
# include tasks/sequence.py


class ModelNew(Model):
    def forward(self, x):
        y = torch.relu(self.linear(x)).permute(2, 1, 0).contiguous()
        return y[:, -1, :].t()
