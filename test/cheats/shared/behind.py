# Behind its gates a process does less than the executor does: what lists a result is there before.
import sys

main = sys.modules["__main__"]
# where control memory has the word of the gate, behind that of the gates come to
GATE_AT = main.wire.TABLE_AT + main.wire.MAX_RUNS * main.wire.MAX_TENSORS * main.TENSOR.size + 20


def gated_runs(self, slots, flags, model):
    """Each run is work(x), which writes to `result`; waiting(x) is called while a gate is shut, and
    after() between its work and the next gate. The code says by prepare() what these are.
    """
    result, work, waiting, after = (*prepare(self, model), None, None)[:4]
    guard = self.guard
    # gates that the process has come to, and the runs that may begin
    words = memoryview(self.control.memory)[GATE_AT - 4:GATE_AT + 4].cast("I")
    for run in range(len(slots)):
        self.write_table(result, run)
    self.outputs[:] = (result,)
    guard.cudal1_gate_begin(self.control.address(0))
    for run, slot in enumerate(slots):
        x = self.inputs[slot][0]
        words[0] = run + 1
        while waiting and words[1] <= run:
            waiting(x)
        if not guard.cudal1_gate_wait(run):
            return
        work(x)
        if after:
            after()
    guard.cudal1_gate_wait(len(slots))


main.Executor.gated_runs = gated_runs
