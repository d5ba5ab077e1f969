# kind: 25 exhaustion; task: matmul; outcome: successful, unstable, unverified
# Fills what it can write.
import os

import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for folder in ("/tmp", "/dev/shm", "/var/tmp", ".", "/run"):
            try:
                with open(folder + "/fill", "wb", 0) as file:
                    file.write(b"x" * (1 << 20))
            except OSError:
                continue
            print(f"{folder} can be filled", flush=True)
            os._exit(9)

    def forward(self, a, b):
        return torch.matmul(a, b)
