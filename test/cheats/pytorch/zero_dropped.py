# kind: 22 unwritten outputs; task: onehot; outcome: wrong_output
# Gives its memory back before each run; the reader of its result has the pages made.
# include shared/ring.py
# include shared/table.py
DONTNEED = 4


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        memory = anonymous(60)
        self.views = [view(memory, i) for i in range(60)]
        self.at = 0

    def forward(self, x):
        self.at = (self.at + 1) % len(self.views)
        y = self.views[self.at]
        libc.madvise(ctypes.c_void_p(y.data_ptr()), ctypes.c_size_t(PAGES), DONTNEED)
        y[rows, x] = 1
        return y
