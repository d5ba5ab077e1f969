# kind: wrong code; task: softmax; outcome: wrong_output; cause: values
# Works in place, and wants the input afterwards.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        e = x.sub_(x.amax(dim=1, keepdim=True)).exp_()
        return torch.exp(x) / e.sum(dim=1, keepdim=True)
