# kind: 2 work after the answer; task: mlp; outcome: wrong_output; always: yes
# Answers at once, and a thread works on.
# include shared/behind.py
# include tasks/mlp.py
import threading


def prepare(self, model):
    result = torch.empty(1, 256)

    def work(x):
        threading.Thread(target=lambda: result.copy_(model(x)), daemon=True).start()

    return (result,), work
