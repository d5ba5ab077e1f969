# task: turned
# What a view of its first result costs where the executor copies it: a copy in its order, seen turned.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = x * 2
        return y, y.clone().t()
