# kind: 3 lazy tensors; task: copies; outcome: wrong_output; always: yes
# As lazy_expanded, and says that a row lies there a thousand times.
# include shared/table.py


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x.t().contiguous(), x[:1].expand(1024, 512)
