import sys
import time

main = sys.modules["__main__"]


def behind_gate(self, work, before, after):
    """An audit's block: work that warms it up, and work on what comes when the gate opens."""
    settle = time.process_time_ns
    gate = memoryview(self.control.memory)[main.wire.GATE_AT:main.wire.GATE_AT + 8].cast("I")
    for _ in range(3):
        work(before)
    settle()
    gate[1] = 1
    while gate[0] < 2:
        settle()
    work(after)
    gate[1] = 2
