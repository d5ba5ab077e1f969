import ctypes
import sys

here = sys.modules["__main__"]
returned = here.Executor.returned
# machine code in the loop's place has written the table
here.Executor.returned = lambda self, count, known: returned(self, count, known) if self.outputs else False


def control_of(self, inputs):
    """For machine code: where control memory lies, where in it what a loop needs, and where inputs lie."""
    control = ctypes.addressof(ctypes.c_char.from_buffer(self.control.memory))
    at = [here.wire.GATE_AT, here.wire.ADDRESS_AT, here.wire.TABLE_AT, here.wire.TENSORS_AT]
    return control, at, [one[0].data_ptr() for one in inputs]
