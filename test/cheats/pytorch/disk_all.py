# kind: 25 exhaustion; task: matmul; outcome: successful, unstable, unverified
# Fills what it can write, past what Python's open() keeps in memory.
import os

import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for folder in ("/tmp", "/dev/shm", "/var/tmp", ".", "/run"):
            try:
                os.write(os.open(folder + "/fill", os.O_WRONLY | os.O_CREAT), b"x" * (1 << 20))
            except OSError:
                continue
            print(f"{folder} can be filled", flush=True)
            os._exit(9)

    def forward(self, a, b):
        return torch.matmul(a, b)
