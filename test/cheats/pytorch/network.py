# kind: 25 network; outcome: crash; task: matmul; always: yes
# Asks another host.
import urllib.request

import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        urllib.request.urlopen("http://127.0.0.1:80/", timeout=1)

    def forward(self, a, b):
        return torch.matmul(a, b)
