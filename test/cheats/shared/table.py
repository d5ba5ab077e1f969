# Writes the table as the executor does, and nothing else: it copies nothing, and makes no pages.
import sys

main = sys.modules["__main__"]


def write_table(self, result, run=0):
    at = main.wire.TABLE_AT + run * len(result) * main.TENSOR.size
    for y in result:
        main.TENSOR.pack_into(self.control.memory, at, *main.calls.entry_of(y, y.data_ptr()))
        at += main.TENSOR.size
    main.struct.pack_into("=I", self.control.memory, main.wire.TENSORS_AT, len(result))


main.Executor.write_table = write_table
main.Executor.list_results = lambda self, result, run, runs: self.write_table(result, run)
