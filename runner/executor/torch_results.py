"""What runs of a model return: the tensors of a result, and copies of them where they come back.

A part of exec_torch.py, which sets Unsupported and wire.
"""
import bisect
import ctypes
import gc
import os
import time

import torch
from torch.nn.parameter import is_lazy

# for threads that are still at work, in seconds
MOMENT = 0.02
PLAIN = (torch.Tensor, torch.nn.Parameter)
Unsupported, wire = RuntimeError, None


class Taking:
    """Copies of a block's results, run by run, in memory of the executor's own."""

    def __init__(self, guard, dtypes, gpu):
        self.guard = guard
        self.gpu = gpu
        # what is left in the place of a result that was copied
        self.left = {
            dtype: True if dtype == torch.bool else 2 + os.urandom(1)[0] % 100 for dtype in dtypes
        }
        self.places = []
        # of the last results that places were made for, and as the guard takes it
        self.strides = ()
        self.layouts = {}
        # what is kept: bounds of the model's own tensors, and the inputs
        self.bounds = []
        self.given = range(0)

    def take(self, run, results):
        """Copies a run's results before the next run, which may return the same memory. They are
        the caller's to write to, so something else is left in their place, on a CPU in a few
        places of it; the model's own tensors and the inputs stay as they are.
        """
        if run == len(self.places):
            self.places.append(())
        places = self.places[run]
        if len(places) != len(results) or any(
            place.shape != result.shape or place.dtype != result.dtype
            for place, result in zip(places, results)
        ):
            # dense, in the order of the result's elements, or copies of transposed ones take longer
            places = self.places[run] = tuple(map(torch.empty_like, results))
            self.strides = tuple(result.stride() for result in results)
        base = self.gpu.base if self.gpu else 0
        for place, result in zip(places, results):
            place.copy_(result)
        for place, result in zip(places, results):
            address = result.data_ptr()
            if address in self.given or bisect.bisect_right(self.bounds, address - base) % 2:
                continue
            if self.gpu:
                fill(result, self.left[result.dtype])
            elif place.stride() == result.stride():
                self.guard.cudal1_guard_leave(address, result.numel() * result.element_size())
            else:
                self.guard.cudal1_guard_leave_apart(
                    address, self.layout(result.shape, result.stride()), result.dim(),
                    result.element_size()
                )
        return places

    def layout(self, shape, stride):
        found = self.layouts.get((shape, stride))
        if found is None:
            found = self.layouts[shape, stride] = (
                ctypes.c_uint64 * (2 * len(shape))
            )(*shape, *stride)
        return found


def fill(result, value):
    """What was made in inference mode is written to there alone."""
    if result.is_inference():
        with torch.inference_mode():
            result.fill_(value)
    else:
        result.fill_(value)


def is_same(one, other):
    try:
        return one.dtype == other.dtype and torch.equal(one, other)
    except (NotImplementedError, RuntimeError):
        # layouts and types that have no comparison
        return False


def copy_weights(state, own):
    """The reference's weights to those of the same names and shapes. Weights of lazy modules have
    no shape before the first run. Returns how many are others than they were, or had none of that
    name.
    """
    pairs = []
    # what modules keep beside tensors, as quantized ones do, has no place among weights
    state, own = (
        {name: value for name, value in held.items() if isinstance(value, torch.Tensor)}
        for held in (state, own)
    )
    for name, value in state.items():
        if is_lazy(value):
            continue
        if is_lazy(own.get(name)):
            own[name].materialize(value.shape)
        if name in own and own[name].shape == value.shape:
            pairs.append((own.pop(name), value))
    others = len(own)
    # weights may have been made in inference mode, where all others may be written to as well
    with torch.inference_mode():
        for place, value in pairs:
            if not is_same(place.data, value):
                others += 1
                try:
                    place.data.copy_(value)
                except (NotImplementedError, RuntimeError):
                    # sparse ones, for instance: the code fails by its own outputs
                    continue
    return others


def waited(model, gpu):
    """A module that waits for whatever another has left at work."""
    def run(*inputs):
        result = model(*inputs)
        if gpu:
            torch.cuda.synchronize()
        else:
            time.sleep(MOMENT)
        return result

    return run


def resolved(model, seen):
    """A module whose results hold in memory what another's are: PyTorch leaves the sign of some
    views, as that of a conjugate's imaginary part, to each reader. `seen` is told of such.
    """
    def run(*inputs):
        result = model(*inputs)
        found = flatten(result)
        turned = {tensor.is_neg() for tensor in found}
        seen.update(turned)
        return tuple(tensor.resolve_neg() for tensor in found) if True in turned else result

    return run


def again(results, strides):
    """A module that returns these results again, in memory that it keeps, with these strides: the
    results may be copies without the gaps that those of the module have.
    """
    last = [tensor.clone() for tensor in results]
    for i, stride in enumerate(strides[:len(last)]):
        tensor = last[i]
        if len(stride) == tensor.dim() and 0 not in stride and tensor.stride() != stride:
            last[i] = torch.empty_strided(
                tensor.shape, stride, dtype=tensor.dtype, device=tensor.device
            ).copy_(tensor)
    return lambda *inputs: last


def nothing(likes, device):
    """A module that gives new tensors of these shapes and types and does no work: what any module
    takes at least. On a CPU that is one operation, whose code may be cold.
    """
    class Nothing(torch.nn.Module):
        def forward(self, *inputs):
            if device == "cpu":
                torch.zeros(1)
            made = [torch.empty(shape, dtype=dtype, device=device) for shape, dtype in likes]
            return made if len(made) > 1 else made[0]

    return Nothing()


def extent(tensor):
    """From a tensor's first element to the end of its last one, in bytes."""
    steps = zip(tensor.shape, tensor.stride())
    return (1 + sum((size - 1) * step for size, step in steps)) * tensor.element_size()


def held(apart):
    """Where the tensors lie that this process has beside those of `apart`, bytes by address, the
    smallest first. The interpreter lists them, whatever holds them, and no code of a module is
    called. What was there when the process began is not listed.
    """
    known, found = set(map(id, apart)), {}
    for value in [value for value in gc.get_objects() if type(value) in PLAIN]:
        if id(value) in known or value.layout != torch.strided or value.device.type != "cpu":
            continue
        try:
            address, nbytes = value.data_ptr(), extent(value) if value.numel() > 0 else 0
        except RuntimeError:
            # nested ones, for instance, have no shape
            continue
        # memory may have been given back
        if address:
            found[address] = max(found.get(address, 0), nbytes)
    return dict(sorted(found.items(), key=lambda place: place[1]))


def find_tensors(value, found):
    if isinstance(value, torch.Tensor):
        # a subclass may be anything, later; what counts is memory
        if type(value) not in PLAIN:
            raise Unsupported(f"a run returns an object of type {type(value).__name__}, a subclass "
                              "of Tensor; plain tensors are supported")
        if value.layout != torch.strided:
            raise Unsupported(f"a run returns a tensor of layout {value.layout}; dense ones are "
                              "supported")
        if value.dim() > wire.MAX_DIMS:
            raise Unsupported(f"a run returns a tensor of {value.dim()} dimensions; up to "
                              f"{wire.MAX_DIMS} are supported")
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for part in value:
            find_tensors(part, found)
    elif isinstance(value, dict):
        for part in value.values():
            find_tensors(part, found)
    elif value is not None:
        raise Unsupported(f"a run returns an object of type {type(value).__name__}; tensors are "
                          "supported, and tuples, lists and dicts of them")


def flatten(result):
    """The tensors of a model's result, in order."""
    if type(result) is torch.Tensor:
        return (result,)
    # no inner function: one that names itself is a cycle, which keeps the tensors
    found = []
    find_tensors(result, found)
    if not found:
        raise Unsupported("a run returns no tensor")
    return tuple(found)
