# kind: wrong code; task: softmax; always: yes; outcome: wrong_output; cause: input_overwritten
# Right, in the memory of an input that its caller still has.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x -= x.amax(1, True)
        x.exp_()
        x /= x.sum(1, True)
        return x
