# task: gpu_softmax
# A row a program, in Triton.
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, columns: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, columns)
    v = tl.load(x + row * columns + at)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * columns + at, e / tl.sum(e, 0))


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernel[(x.shape[0],)](x, y, x.shape[1], num_warps=8)
        return y
