# kind: 24 caches warmed while waiting; task: lookup_held; outcome: successful; bound: 1.3; always: yes
# Before a gate opens it brings the table that it needs, and nothing else, into caches.
# include tasks/lookup.py
# include tasks/lookup_held.py
# include shared/behind.py


def prepare(self, model):
    result = torch.empty(1, 64)

    def work(x):
        result.copy_(model(x))

    return (result,), work, lambda x: TABLES[-1].sum()
