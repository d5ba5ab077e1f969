# kind: 24 caches warmed between runs; task: lookup; outcome: successful, unstable; bound: 1.1; always: yes
# Between its work and the next gate it brings its table into caches; a run ends at the next gate.
# include tasks/lookup.py
# include shared/behind.py


def gated_runs(self, slots, flags, model):
    result = torch.empty(1, 64)

    def work(x):
        result.copy_(model(x))

    behind_gates(self, slots, (result,), work, after=self.model.table.sum)


main.Executor.gated_runs = gated_runs


class ModelNew(Model):
    pass
