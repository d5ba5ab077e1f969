# Writes the table as the executor does, and nothing else: it copies nothing, and makes no pages.
import sys

main = sys.modules["__main__"]


def write_table(self, outputs, first=0):
    at = main.wire.TABLE_AT + first * len(outputs[0]) * main.TENSOR.size if outputs else 0
    for tensors in outputs:
        for y in tensors:
            fill = (0,) * (main.wire.MAX_DIMS - y.dim())
            main.TENSOR.pack_into(self.control.memory, at, y.data_ptr(), self.codes[y.dtype],
                                  y.dim(), *y.shape, *fill, *y.stride(), *fill)
            at += main.TENSOR.size
    if outputs:
        main.struct.pack_into("=I", self.control.memory, main.wire.TENSORS_AT, len(outputs[0]))


main.Executor.write_table = write_table
main.Executor.repeat_table = lambda self, result, runs: [None] * len(result)
