# kind: wrong code; task: gpu_softmax; first: yes; outcome: wrong_output; cause: input_overwritten
# Right, in the place of its input, which it returns.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x -= x.amax(dim=1, keepdim=True)
        x.exp_()
        x /= x.sum(dim=1, keepdim=True)
        return x
