# kind: wrong code; task: softmax; outcome: wrong_output; cause: unfinished
# A thread fills the result after it was returned.
import threading


class ModelNew(torch.nn.Module):
    def forward(self, x):
        result = torch.zeros_like(x)
        threading.Timer(0.001, lambda: result.copy_(torch.softmax(x, dim=1))).start()
        return result
