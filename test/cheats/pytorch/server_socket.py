# kind: 25 network; outcome: crash; task: matmul
# Asks the server by its socket.
import socket

import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        socket.socket(socket.AF_UNIX).connect("/var/run/postgresql/.s.PGSQL.5432")

    def forward(self, a, b):
        return torch.matmul(a, b)
