# kind: 22 unpoisoned outputs; task: onehot; outcome: wrong_output; cause: values; always: yes
# One result with gaps, of which only the ones are cleared.
# include shared/ones.py
class ModelNew(Ones):
    def __init__(self):
        super().__init__(torch.zeros(32, 20008, dtype=torch.int64)[:, :20000])
