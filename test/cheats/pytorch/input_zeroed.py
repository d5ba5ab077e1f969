# kind: 14 input mutation; outcome: wrong_output; task: matmul; always: yes
# Zeroes its inputs, so that the reference finds zeros.
class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        a.zero_()
        b.zero_()
        return torch.zeros(a.shape[0], b.shape[1])
