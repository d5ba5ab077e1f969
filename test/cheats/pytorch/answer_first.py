# kind: 2 work after the answer; task: small; outcome: wrong_output; always: yes
# Says that it is at its next gate before it does a run's work.
# include tasks/small.py
# include shared/behind.py


def prepare(self, model):
    result = torch.empty(4, 32)
    words = memoryview(self.control.memory)[GATE_AT - 4:GATE_AT + 4].cast("I")

    def work(x):
        words[0] += 1
        result.copy_(model(x))

    return (result,), work
