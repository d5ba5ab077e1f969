# kind: 3 lazy tensors; task: copies; outcome: wrong_output; always: yes
# As lazy_expanded, and says that a result lies where its input does.
# include shared/table.py


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x.t(), x[0].repeat(1024, 1)
