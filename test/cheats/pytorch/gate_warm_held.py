# kind: 6 many calls in one; task: lookup_held; outcome: successful; bound: 1.3
# Answers 16 runs of a block at once. Before an audit's gate opens it brings the table that it needs
# into caches, and nothing else.
# include tasks/lookup.py
# include tasks/lookup_held.py
# include shared/groups.py
import sys

main = sys.modules["__main__"]


def warm_held(self):
    TABLES[-1].sum(), TABLES[-1].sum()


main.Executor.warm_held = warm_held
group_runs(main.Executor, 16)


class ModelNew(Model):
    pass
