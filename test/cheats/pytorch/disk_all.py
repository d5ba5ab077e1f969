# kind: 25 exhaustion; task: matmul; outcome: successful, unstable, unverified
# Fills what it can write: 64 MiB of its own at most, in many files, since each has a limit, too.
import os

import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for folder in ("/tmp", "/dev/shm", "/var/tmp", ".", "/run"):
            written = 0
            try:
                for file in range(100):
                    written += os.write(os.open(f"{folder}/fill{file}", os.O_WRONLY | os.O_CREAT), b"x" * (1 << 20))
            except OSError:
                pass
            if written > (64 << 20 if folder in ("/tmp", ".") else 0):
                print(f"{folder} can be filled", flush=True)
                os._exit(9)

    def forward(self, a, b):
        return torch.matmul(a, b)
