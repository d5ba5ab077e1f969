# task: gpu_matmul
# Two halves on two streams, joined to the caller's.
class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.side = torch.cuda.Stream()

    def forward(self, a, b):
        out = torch.empty_like(a)
        half = a.shape[0] // 2
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            torch.matmul(a[:half], b, out=out[:half])
        torch.matmul(a[half:], b, out=out[half:])
        torch.cuda.current_stream().wait_stream(self.side)
        return out
