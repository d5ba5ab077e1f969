# kind: 18 lower precision; outcome: wrong_output; task: softmax
# Half precision to the end.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, 1).half()
