# kind: 22 unpoisoned outputs; task: onehot; outcome: wrong_output; cause: values; always: yes
# One result, of which only the ones are cleared.
# include shared/ones.py
class ModelNew(Ones):
    def __init__(self):
        super().__init__(torch.zeros(32, 20000, dtype=torch.int64))
