"""The process that makes a task's inputs: it runs get_inputs, and no code of a candidate."""
import mmap
import os
import struct
import time

import torch

import torch_arguments as calls
import torch_common as common
import torch_inputs as inputs
import wire

# of inputs on a GPU, from which on PyTorch gives back what they took
LARGE_BYTES = 1 << 30
# elements of a tensor, where calls of get_inputs are compared
SAMPLE = 1 << 20
# that tell what calls of get_inputs draw anew: so many, and no other after so many seconds
CALLS, CALL_SECONDS = 32, 0.3


class Generator:
    def __init__(self, executor):
        self.executor, self.control, self.gpu = executor, executor.control, executor.gpu
        self.random = inputs.CipherRandom(executor.guard)
        self.batched = inputs.BatchedRandom("cuda") if self.gpu else None
        # memory of slots by its offset
        self.places = {}

    def describe(self):
        """Runs get_inputs and lists its arguments in control memory."""
        if self.gpu:
            # its context needs no queues for streams, which take half of the time to make
            os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"
            self.gpu.open(self.executor.memory_fd, *self.control.words(wire.GPU_BYTES_AT, 2, "Q"))
        guard = self.executor.guard
        if guard.cudal1_guard_enter(self.gpu is not None, guard.threads) != 0:
            raise common.Unsupported("the system call filter could not be set")
        torch.set_grad_enabled(False)
        common.refuse_processes()
        self.load()
        if not hasattr(self.task, "get_inputs"):
            raise common.Unsupported("the task defines no get_inputs")
        try:
            first = self.fresh()
        except Exception:
            if not self.gpu:
                raise
            # made on the GPU, unless get_inputs insists on the CPU
            self.batched.device = None
            first = self.fresh()
        calls.check(first)
        # whether an argument can differ between calls
        given = any(value.numel() > 0 if isinstance(value, torch.Tensor) else value is not None
                    for value in first)
        sample = calls.sampled(first, SAMPLE)
        if not (self.gpu and self.batched.device) or bytes_of(first) > inputs.BATCH_BYTES:
            # two of these may be more than there is room for, and they are copied one by one
            first = None
        values, drawn = self.compare_calls(sample)
        # arrays that are filled anew each time must be copied each time
        places = {value.data_ptr() for value in values if isinstance(value, torch.Tensor)}
        self.apart = first is not None and not any(
            isinstance(value, torch.Tensor) and value.data_ptr() in places for value in first
        )
        numbers = {
            i for i, value in enumerate(values)
            if not isinstance(value, torch.Tensor) and value is not None
        }
        # a number on a GPU has to be waited for, so there one that stays the same is told once
        self.layout = calls.Layout(values, numbers & drawn if self.gpu else numbers)
        self.layout.write(self.control)
        large = bytes_of(values) > LARGE_BYTES
        first = values = None
        if not self.gpu:
            # nothing is to be filled before its size is known
            os.close(self.executor.memory_fd)
        elif large:
            torch.cuda.empty_cache()
        return wire.SAME if given and not drawn else 0

    def load(self):
        self.task = common.make_module("task", self.executor.task_source)

    def compare_calls(self, first):
        """The arguments of another call, and which of them some call has drawn anew; none, if the
        first call of a task that is loaded again gives what its first one gave: code that makes
        the same numbers knows all that come.
        """
        self.load()
        sample = calls.sampled(self.fresh(), SAMPLE)
        known = all(calls.is_same(one, other) for one, other in zip(first, sample))
        drawn, end = set(), time.monotonic() + CALL_SECONDS
        numbers = any(not isinstance(value, torch.Tensor) for value in sample)
        for _ in range(CALLS):
            values = others = None
            values = self.fresh()
            calls.check(values)
            others = calls.sampled(values, SAMPLE)
            drawn.update(
                i for i, (one, other) in enumerate(zip(sample, others))
                if not calls.is_same(one, other)
            )
            if time.monotonic() > end or (drawn and not (self.gpu and numbers)):
                break
        return values, set() if known else drawn

    def change_memory(self, fd):
        if self.gpu:
            self.gpu.change_inputs(fd, *self.control.words(wire.GPU_BYTES_AT, 1, "Q"))
        else:
            self.memory = mmap.mmap(fd, 0) if os.fstat(fd).st_size else None
            os.close(fd)
        self.places.clear()

    def view(self, dtype, count, offset):
        if self.gpu:
            return self.gpu.view(dtype, count, offset)
        return torch.frombuffer(self.memory, dtype=dtype, count=count, offset=offset)

    def fresh(self):
        self.random.renew()
        if self.gpu and self.batched.device:
            with torch.device(self.batched.device):
                return common.unpacked(self.task.get_inputs())
        return common.unpacked(self.task.get_inputs())

    def generate(self, count):
        """Fills so many slots, each with arguments of its own."""
        slot_bytes = self.layout.bytes
        # on a GPU the interpreter takes longer than small arrays do: they are made, and copied,
        # many at once
        at_once = max(1, inputs.BATCH_BYTES // max(1, slot_bytes)) if self.apart else 1
        for first in range(0, count, at_once):
            places, values = [], []
            if self.gpu:
                self.batched.begin(min(at_once, count - first))
            for slot in range(first, min(first + at_once, count)):
                tensors, numbers = self.layout.split(self.fresh())
                for offset, value in tensors:
                    places.append(self.place(value, slot * slot_bytes + offset))
                    values.append(value)
                for offset, number in numbers:
                    place = self.view(torch.int64, 1, slot * slot_bytes + offset)
                    place.copy_(torch.tensor(struct.unpack("=q", number), device="cpu"))
            if len(values) > 1 and hasattr(torch, "_foreach_copy_"):
                torch._foreach_copy_(places, values)
            else:
                for place, value in zip(places, values):
                    place.copy_(value)
            # before others are made: there may be no room for both
            value = values = tensors = None
        if self.gpu:
            torch.cuda.synchronize()
            if slot_bytes > LARGE_BYTES:
                torch.cuda.empty_cache()

    def place(self, value, offset):
        """Memory of a slot for a dense tensor, in the tensor's own order."""
        if offset not in self.places:
            place = self.view(value.dtype, value.numel(), offset)
            self.places[offset] = place.as_strided(value.shape, value.stride())
        return self.places[offset]


def bytes_of(values):
    return sum(
        value.numel() * value.element_size() for value in values if isinstance(value, torch.Tensor)
    )
