# kind: 25 exhaustion; outcome: launch_failure; task: matmul
# As many threads as it gets.
import threading

import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for _ in range(10000):
            threading.Thread(target=threading.Event().wait, daemon=True).start()

    def forward(self, a, b):
        return torch.matmul(a, b)
