# kind: wrong code; task: gpu_matmul; outcome: wrong_output; cause: unfinished
# The caller's stream reads what another has not made yet.
class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.side = torch.cuda.Stream()
        self.product = None

    def forward(self, a, b):
        if self.product is None:
            self.product = torch.zeros_like(a)
        with torch.cuda.stream(self.side):
            torch.cuda._sleep(1000000)
            torch.matmul(a, b, out=self.product)
        return self.product + 0
