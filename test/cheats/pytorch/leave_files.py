# kind: 25 leftovers; task: matmul; outcome: successful, unstable, unverified; always: yes
# Leaves files, and a changed library, for whoever comes next.
import os
import sys

import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for path in ("/tmp/left", "/dev/shm/left", "/left", "/usr/left", "/dev/left", torch.__file__, sys.modules["__main__"].__file__):
            try:
                with open(path, "a"):
                    print(f"{path} can be written by a candidate", flush=True)
                    os._exit(9)
            except OSError:
                pass

    def forward(self, a, b):
        return torch.matmul(a, b)
