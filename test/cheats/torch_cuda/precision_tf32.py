# kind: 18 lower precision; task: gpu_matmul; outcome: wrong_output
# TF32: ten bits.
import torch

torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)
