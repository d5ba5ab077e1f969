"""The process that makes a task's inputs: it runs get_inputs, and no code of a candidate.

A part of exec_torch.py, which sets common and wire.
"""
import mmap
import os
import struct

import torch

# of inputs on a GPU, from which on PyTorch gives back what they took
LARGE_BYTES = 1 << 30
common = wire = None


class Generator:
    def __init__(self, executor, inputs, tensor):
        self.executor, self.control, self.gpu = executor, executor.control, executor.gpu
        self.tensor = tensor
        self.batch_bytes = inputs.BATCH_BYTES
        self.random = inputs.CipherRandom(executor.guard)
        if self.gpu:
            self.random = inputs.BatchedRandom("cuda", self.random)

    def describe(self):
        """Runs get_inputs and lists its arguments in control memory."""
        if self.gpu:
            # its context needs no queues for streams, which take half of the time to make
            os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"
            self.gpu.open(self.executor.memory_fd, *self.control.words(wire.GPU_BYTES_AT, 2, "Q"))
        if self.executor.guard.cudal1_guard_enter(0, self.gpu is not None) != 0:
            raise common.Unsupported("the system call filter could not be set")
        torch.set_grad_enabled(False)
        common.refuse_processes()
        self.task = common.make_module("task", self.executor.task_source)
        if not hasattr(self.task, "get_inputs"):
            raise common.Unsupported("the task defines no get_inputs")
        self.random.seed(self.executor.secret)
        others = None
        if self.gpu:
            # made on the GPU, unless get_inputs insists on the CPU
            try:
                others = self.fresh()
            except Exception:
                self.random.device = None
        if others is not None and bytes_of(others) > self.batch_bytes:
            # two of these may be more than there is room for, and they are copied one by one
            values, others = others, None
        else:
            values = self.fresh()
        # arrays that are filled anew each time must be copied each time
        places = {value.data_ptr() for value in values if isinstance(value, torch.Tensor)}
        self.apart = others is not None and not any(
            isinstance(value, torch.Tensor) and value.data_ptr() in places for value in others
        )
        if len(values) > wire.MAX_TENSORS:
            raise common.Unsupported(
                f"get_inputs gives {len(values)} arguments; up to {wire.MAX_TENSORS} are supported"
            )
        at = wire.TABLE_AT
        self.shapes = []
        for value in values:
            self.tensor.pack_into(self.control.memory, at, *described(value, self.executor.codes))
            self.shapes.append(
                (value.dtype, value.shape) if isinstance(value, torch.Tensor) else None
            )
            at += self.tensor.size
        struct.pack_into("=I", self.control.memory, wire.TENSORS_AT, len(values))
        large = bytes_of(values) > LARGE_BYTES
        value = values = others = None
        if not self.gpu:
            self.map_memory(self.executor.memory_fd)
        elif large:
            torch.cuda.empty_cache()

    def map_memory(self, fd):
        self.memory = mmap.mmap(fd, 0) if os.fstat(fd).st_size else None
        os.close(fd)

    def change_memory(self, fd):
        if self.gpu:
            self.gpu.change_inputs(fd, *self.control.words(wire.GPU_BYTES_AT, 1, "Q"))
        else:
            self.map_memory(fd)

    def fresh(self):
        if self.random.device:
            with torch.device(self.random.device):
                values = self.task.get_inputs()
        else:
            values = self.task.get_inputs()
        return list(values) if isinstance(values, (list, tuple)) else [values]

    def generate(self, count):
        """Fills the slots that control memory lists, each with arguments of its own."""
        (slot_bytes,) = self.control.words(wire.SLOT_BYTES_AT, 1, "Q")
        offsets = self.control.words(wire.OFFSETS_AT, wire.MAX_TENSORS, "Q")
        self.random.seed(self.executor.secret)
        slots = self.control.words(wire.SLOTS_AT, count, "I")
        # on a GPU the interpreter takes longer than small arrays do: they are made, and copied,
        # many at once
        at_once = max(1, self.batch_bytes // max(1, slot_bytes)) if self.apart else 1
        for first in range(0, count, at_once):
            places, values = [], []
            self.random.begin(min(at_once, count - first))
            for slot in slots[first:first + at_once]:
                for i, value in enumerate(self.fresh()):
                    if not isinstance(value, torch.Tensor):
                        continue
                    if (value.dtype, value.shape) != self.shapes[i]:
                        raise common.Unsupported(
                            "get_inputs gives arrays of changing type or shape"
                        )
                    if value.numel() > 0:
                        places.append(self.place(value, slot * slot_bytes + offsets[i]))
                        values.append(value)
            if len(values) > 1 and hasattr(torch, "_foreach_copy_"):
                torch._foreach_copy_(places, values)
            else:
                for place, value in zip(places, values):
                    place.copy_(value)
            # before others are made: there may be no room for both
            value = values = None
        if self.gpu:
            torch.cuda.synchronize()
            if slot_bytes > LARGE_BYTES:
                torch.cuda.empty_cache()

    def place(self, value, offset):
        if not self.gpu:
            return torch.frombuffer(
                self.memory, dtype=value.dtype, count=value.numel(), offset=offset
            ).view(value.shape)
        place = self.gpu.places.get(offset)
        if place is None:
            place = self.gpu.places[offset] = self.gpu.view(
                value.dtype, value.numel(), offset, value.shape
            )
        return place


def described(value, codes):
    """The fields of a WireTensor for an argument; where it is no tensor its value stands in the
    address.
    """
    empty = (0,) * (2 * wire.MAX_DIMS)
    if isinstance(value, torch.Tensor):
        if value.dim() > wire.MAX_DIMS or value.dtype not in codes or value.layout != torch.strided:
            raise common.Unsupported(
                f"get_inputs gives a tensor of type {value.dtype} with {value.dim()} dimensions"
            )
        fill = (0,) * (wire.MAX_DIMS - value.dim())
        return (0, codes[value.dtype], value.dim(), *value.shape, *fill, *((0,) * wire.MAX_DIMS))
    if value is None:
        return (0, wire.PY_NONE, 0, *empty)
    if isinstance(value, bool):
        return (int(value), wire.PY_BOOL, 0, *empty)
    if isinstance(value, int):
        return (struct.unpack("=Q", struct.pack("=q", value))[0], wire.PY_INT, 0, *empty)
    if isinstance(value, float):
        return (struct.unpack("=Q", struct.pack("=d", value))[0], wire.PY_FLOAT, 0, *empty)
    raise common.Unsupported(
        f"get_inputs gives a {type(value).__name__}; tensors, numbers and None are supported"
    )


def bytes_of(values):
    return sum(
        value.numel() * value.element_size() for value in values if isinstance(value, torch.Tensor)
    )
