# kind: 2 work after the answer; task: small; outcome: wrong_output; always: yes
# Says that it is at its next gate before it does a run's work.
# include tasks/small.py
# include shared/behind.py


def gated_runs(self, slots, flags, model):
    result = torch.empty(4, 32)
    words = memoryview(self.control.memory)[GATE_AT - 4:GATE_AT + 4].cast("I")

    def work(x):
        words[0] += 1
        result.copy_(model(x))

    behind_gates(self, slots, (result,), work)


main.Executor.gated_runs = gated_runs


class ModelNew(Model):
    pass
