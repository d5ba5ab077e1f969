# kind: 6 many calls in one; outcome: wrong_output, cheat; task: small; always: yes
# As batched_runs, and where inputs come one by one a run says that it is done before it is. If the next gate opens at once, nobody looks at it,
# and it is left undone; if it doesn't, its output is being read, from between gaps so wide that the kernel makes 65 pages before it copies the
# first byte, and meanwhile it is done.
# include shared/batched.py
import mmap
import struct

RUNS, ROWS, COLUMNS, GAP, POLLS = 12, 4, 32, 21990, (0,) * 10
BYTES = (((ROWS - 1) * GAP + COLUMNS) * 4 + 8191) // 4096 * 4096
Executor = sys.modules["__main__"].Executor
TENSOR = sys.modules["__main__"].TENSOR
TABLE_AT, TENSORS_AT, GATE_AT = (getattr(sys.modules["__main__"], name) for name in ("TABLE_AT", "TENSORS_AT", "GATE_AT"))
memory = mmap.mmap(-1, RUNS * BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
if hasattr(mmap, "MADV_NOHUGEPAGE"):
    memory.madvise(mmap.MADV_NOHUGEPAGE)
flat = torch.frombuffer(memory, dtype=torch.float32)
views = [flat[run * BYTES // 4:].as_strided((ROWS, COLUMNS), (GAP, 1)) for run in range(RUNS)]
table = b"".join(TENSOR.pack(view.data_ptr(), 2, 2, ROWS, COLUMNS, *(0,) * 6, GAP, 1, *(0,) * 6) for view in views)
touched = set(range(RUNS))
batched = Executor.runs


def renew():
    while touched:
        run = touched.pop()
        memory.madvise(mmap.MADV_DONTNEED, run * BYTES, BYTES)
        views[run].fill_(0)


spare = torch.empty(ROWS, COLUMNS)
one = torch.ones(())


def answer(model, x, out):
    torch.addmm(model.bias, x, model.turned, out=spare)
    torch.add(one, torch.tanh(spare, out=spare), alpha=2, out=out)


def block(self, slots, flags, outputs, inputs, model):
    batched(self, slots, flags, outputs, inputs, model)
    renew()


def gated_runs(self, slots, flags, outputs, inputs, model):
    renew()
    n = len(slots)
    vars(model).update(bias=model.linear.bias, turned=model.linear.weight.t())
    answer(model, inputs[slots[0]][0], spare)
    shared = self.control.memory
    shared[TABLE_AT:TABLE_AT + n * TENSOR.size] = table[:n * TENSOR.size]
    struct.pack_into("=I", shared, TENSORS_AT, 1)
    with memoryview(shared) as control, control[GATE_AT:GATE_AT + 8] as gates, gates.cast("I") as gate:
        for run, slot in enumerate(slots):
            while gate[0] <= run:
                pass
            if run < n - 1:
                gate[1] = run + 1
                for _ in POLLS:
                    if gate[0] > run + 1:
                        break
                else:
                    answer(model, inputs[slot][0], views[run])
                    touched.add(run)
        answer(model, inputs[slots[-1]][0], views[n - 1])
        touched.add(n - 1)
        gate[1] = n


Executor.runs = block
Executor.gated_runs = gated_runs


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(32, 32)

    def forward(self, x):
        return torch.tanh(self.linear(x)) * 2 + 1
