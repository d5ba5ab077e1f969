# task: gpu_linear
# What follows the product, in one Triton kernel.
import torch
import triton
import triton.language as tl


@triton.jit
def finish(x, bias, y, n, width: tl.constexpr, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    v = tl.load(x + at, mask=at < n) + tl.load(bias + at % width, mask=at < n)
    tl.store(y + at, 0.5 * v * (1 + tl.erf(v * 0.7071067811865476)) * 0.5 + 1, mask=at < n)


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        product = torch.mm(x, self.linear.weight.t())
        y = torch.empty_like(product)
        finish[(triton.cdiv(y.numel(), 1024),)](product, self.linear.bias, y, y.numel(), y.shape[1], 1024)
        return y
