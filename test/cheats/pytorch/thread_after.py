# kind: 2 work after the return; outcome: wrong_output; task: matmul; always: yes
# A thread fills the output in after the return.
import queue
import threading

import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.queue = queue.Queue()
        threading.Thread(target=self.work, daemon=True).start()

    def forward(self, a, b):
        out = torch.empty(a.shape[0], b.shape[1])
        self.queue.put((a, b, out))
        return out

    def work(self):
        while True:
            a, b, out = self.queue.get()
            torch.matmul(a, b, out=out)
