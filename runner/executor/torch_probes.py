"""Parameters that are moved from the constants they begin with: a part of exec_torch.py.

Code that leaves out a gamma which begins as 1e-6, biases of 0, a layer whose weights are all tiny
or an identity, or a norm with the running mean and variance of a new model, would be right.
So would 1 + x for the exponential in attention whose matrices begin with a deviation of 0.02.
"""
import contextlib
import math

import torch
from torch.nn.modules.batchnorm import _NormBase

from torch_common import patched

# so far at most from the constant
FARTHEST = 0.25
# numbers that are all smaller are moved, too
TINY = 1e-3
# numbers of a tensor that are looked at first
FEW = 64
# of a vector's length that a matrix leaves, on average; torch.nn.Linear begins with 0.58
SHRINKS = 0.4
# of an element's index: an irrational share of 2**32, so that neighbours lie far apart
STEP = 2654435769
# what torch.nn.init's functions write by
INITS = (
    "_no_grad_fill_", "_no_grad_zero_", "_no_grad_normal_", "_no_grad_uniform_",
    "_no_grad_trunc_normal_",
)


def has_numbers(tensor, least):
    """Whether a tensor has at least so many numbers that can be moved."""
    return (
        isinstance(tensor, torch.Tensor) and tensor.is_floating_point()
        and tensor.layout == torch.strided and not tensor.is_meta
        and not isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin)
        and tensor.numel() >= least
    )


def is_constant(tensor, least):
    """Whether a tensor has so many numbers, and most are the same, or all are tiny."""
    if not has_numbers(tensor, least):
        return False
    few = tensor.detach().reshape(-1)[::max(1, tensor.numel() // FEW)].double()
    usual = few.median()
    return (
        2 * int((few == usual).sum()) > len(few)
        and 2 * int((tensor == usual).sum()) > tensor.numel()
        or bool((few.abs() < TINY).all()) and bool((tensor.abs() < TINY).all())
    )


def enlarge(tensor):
    """Makes a matrix that shrinks vectors keep about their length; whether it does."""
    if not has_numbers(tensor, 2) or tensor.dim() < 2:
        return False
    rows = tensor.shape[0]
    length = float(tensor.detach().float().norm()) / min(rows, tensor.numel() // rows) ** 0.5
    if not 0 < length < SHRINKS:
        return False
    # a power of two, which rounds nothing
    tensor.data.mul_(2.0 ** -round(math.log2(length)))
    return True


def move(tensor):
    """Moves it in place, by the index alone, so that code which has the parameter in another shape,
    or makes it at another time, has the same numbers. All but tiny numbers move away from 0,
    because a model may divide by them, or take their roots.
    """
    place = torch.arange(1, tensor.numel() + 1, device=tensor.device).mul_(STEP).remainder_(1 << 32)
    by = place.to(torch.float64).mul_(2 * FARTHEST / 2**32).sub_(FARTHEST)
    by = by.to(tensor.dtype).reshape(tensor.shape)
    tensor.data.add_(torch.where(tensor.abs() < TINY, by, by.abs() * tensor.sign()))


class Moving:
    """While a model is constructed, constants that become parameters, or are written to them, are
    moved at once, so that its constructor goes on with them. The rest is moved when it is there.
    """

    def __init__(self, wanted):
        self.wanted = wanted
        self.moved = 0
        self.patches = contextlib.ExitStack()

    def __enter__(self):
        if not self.wanted:
            return
        create, reset = torch.nn.Parameter.__new__, _NormBase.reset_running_stats

        def create_moved(cls, data=None, *arguments, **keywords):
            # a number alone may be anything, and is moved at the end
            if is_constant(data, 2):
                data = data.clone()
                self.move(data, 2)
            return create(cls, data, *arguments, **keywords)

        def filled(original):
            def fill(tensor, *value, **named):
                result = original(tensor, *value, **named)
                if not self.move(tensor, 2):
                    self.moved += enlarge(tensor)
                return result
            return fill

        def reset_moved(norm):
            reset(norm)
            if norm.track_running_stats:
                self.move(norm.running_mean, 1)
                self.move(norm.running_var, 1)

        for owner, values in (
            (torch.nn.Parameter, {"__new__": staticmethod(create_moved)}),
            (torch.nn.init, {name: filled(getattr(torch.nn.init, name)) for name in INITS}),
            (_NormBase, {"reset_running_stats": reset_moved}),
        ):
            self.patches.enter_context(patched(owner, **values))
        return self

    def __exit__(self, *error):
        self.patches.close()

    def move(self, tensor, least):
        """Whether it was a constant."""
        constant = is_constant(tensor, least)
        if constant:
            move(tensor)
            self.moved += 1
        return constant

    def finish(self, model):
        if self.wanted and isinstance(model, torch.nn.Module):
            for parameter in model.parameters():
                self.move(parameter, 1)
