# A window in the place of the executor's loop.
import sys

main = sys.modules["__main__"]


def in_place(self, slots, work):
    """Makes the runs of a window: work(run, slot) gives a run's results when its gate has opened."""
    guard = self.guard
    guard.cudal1_gate_begin(self.control.address(0))
    gate = 0
    while gate := guard.cudal1_gate_wait(gate):
        result = work(gate - 1, slots[gate - 1])
        self.write_table(result, gate - 1)
        self.outputs[:] = (result,)
