# kind: 25 wait; profile: impatient; outcome: timeout; task: matmul
# Sleeps as long as it may whenever it is loaded.
import time


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        time.sleep(3)

    def forward(self, a, b):
        return torch.matmul(a, b)
