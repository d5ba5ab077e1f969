# task: softmax; always: yes
# In the input's memory.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x -= x.amax(1, True)
        x.exp_()
        x /= x.sum(1, True)
        return x
