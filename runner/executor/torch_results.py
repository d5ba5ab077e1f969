"""What runs of a model return: the tensors of a result.

A part of exec_torch.py, which sets Unsupported and wire.
"""
import time

import torch
from torch.nn.parameter import is_lazy

# for threads that are still at work, in seconds
MOMENT = 0.02
PLAIN = (torch.Tensor, torch.nn.Parameter)
Unsupported, wire = RuntimeError, None


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
        # also of a lone result, at which flatten does not look
        found = []
        find_tensors(result, found)
        turned = {tensor.is_neg() for tensor in found}
        seen.update(turned)
        return tuple(tensor.resolve_neg() for tensor in found) if True in turned else result

    return run


def extent(tensor):
    """From a tensor's first element to the end of its last one, in bytes."""
    steps = zip(tensor.shape, tensor.stride())
    return (1 + sum((size - 1) * step for size, step in steps)) * tensor.element_size()


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
