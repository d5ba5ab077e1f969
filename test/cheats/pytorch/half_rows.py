# kind: 16 partial work; outcome: wrong_output; cause: values; task: matmul
# Half of the rows.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        out = torch.zeros(a.shape[0], b.shape[1])
        out[::2] = torch.matmul(a[::2], b)
        return out
