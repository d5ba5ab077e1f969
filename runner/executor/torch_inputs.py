"""Random numbers for a task's get_inputs, in the process that runs nothing else.

What usual generators give next follows from what they gave, which a candidate sees. So arrays on
a CPU come from the supervisor's cipher (random.c), each by a key of its own, and Python's numbers
from the kernel. What is left to PyTorch's generator has a new seed for each call of get_inputs.
"""
import math
import os
import random
import weakref

import torch

from torch_arguments import CODES, numpy

# random.h: RandomInit
NORMAL, UNIFORM, INTEGER = 0, 1, 2
# The cipher makes these; others are PyTorch's own.
FLOATS = torch.float64, torch.float32
INTEGERS = torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8
# bounds of integers go through a C double
EXACT = 1 << 53
# of inputs made at once on a GPU
BATCH_BYTES = 64 << 20


def new_seed():
    return int.from_bytes(os.urandom(8), "little")


class CipherRandom:
    """What is random on a CPU, in torch, random and numpy."""

    def __init__(self, guard):
        self.fill = guard.cudal1_guard_fill
        if hasattr(torch.utils, "_device"):
            # torch.device() as a context knows the functions that it finds in torch when it is
            # first used
            torch.utils._device._device_constructors()
        torch.rand = self.floats(torch.rand, UNIFORM)
        torch.randn = self.floats(torch.randn, NORMAL)
        torch.randint = self.integers(torch.randint)
        # what get_inputs seeds itself would make the same inputs again
        torch.manual_seed = torch.random.manual_seed = lambda seed: torch.default_generator
        torch.Generator = Seeded
        replace(random, Numbers())
        random.Random = Numbers
        if numpy:
            replace_numpy()

    def renew(self):
        """Before each call of get_inputs."""
        for generator in (torch.default_generator, *Seeded.made):
            generator.manual_seed(new_seed())

    def is_plain(self, keywords, dtype, kinds):
        return (dtype in kinds and not set(keywords) - {"dtype", "device"}
                and str(keywords.get("device") or "cpu") == "cpu")

    def filled(self, size, dtype, init, low, high):
        out = torch.empty(tuple(size), dtype=dtype)
        self.fill(out.data_ptr(), out.numel(), CODES[dtype], init, low, high)
        return out

    def floats(self, original, init):
        def make(*size, **keywords):
            dtype = keywords.get("dtype") or torch.get_default_dtype()
            if not self.is_plain(keywords, dtype, FLOATS):
                return original(*size, **keywords)
            if len(size) == 1 and isinstance(size[0], (list, tuple)):
                size = size[0]
            return self.filled(size, dtype, init, 0, 1)
        return make

    def integers(self, original):
        def make(*arguments, **keywords):
            dtype = keywords.get("dtype") or torch.int64
            *bounds, size = arguments or (None,)
            low, high = (0, *bounds)[-2:] if bounds else (0, 0)
            if not (self.is_plain(keywords, dtype, INTEGERS) and isinstance(size, (list, tuple))
                    and all(type(bound) is int and abs(bound) <= EXACT for bound in (low, high))
                    and torch.iinfo(dtype).min <= low < high <= torch.iinfo(dtype).max + 1):
                return original(*arguments, **keywords)
            return self.filled(size, dtype, INTEGER, low, high - 1)
        return make


class Seeded(torch.Generator):
    """A generator of get_inputs' own, which takes a new seed for each that it is given. One that it
    keeps has a new one in each call, too.
    """
    made = weakref.WeakSet()

    def __init__(self, device="cpu"):
        self.made.add(self)
        self.manual_seed(0)

    def manual_seed(self, seed):
        return super().manual_seed(new_seed())

    def set_state(self, state):
        return self


def replace(module, numbers):
    """The functions of a module by the methods of the same name."""
    for name in module.__all__:
        if not isinstance(getattr(module, name), type) and hasattr(numbers, name):
            setattr(module, name, getattr(numbers, name))


def replace_numpy():
    """NumPy's generators count and have a key, so they need not be new for each array. One that
    get_inputs makes has a key of its own, whatever it is seeded with.
    """
    def philox():
        return numpy.random.Philox(key=int.from_bytes(os.urandom(16), "little"))

    class RandomState(numpy.random.RandomState):
        def __init__(self, seed=None):
            super().__init__(philox())

        def seed(self, *arguments, **keywords):
            pass

        def set_state(self, *arguments, **keywords):
            pass

    class Generator(numpy.random.Generator):
        def __init__(self, bit_generator=None, seed=None):
            super().__init__(philox())

    replace(numpy.random, RandomState())
    numpy.random.RandomState, numpy.random.Generator = RandomState, Generator
    numpy.random.default_rng = Generator


class Numbers(random.SystemRandom):
    """Python's own functions, from the kernel; a seed changes nothing, nor does a state."""

    def getstate(self):
        return None

    def setstate(self, state):
        pass


class BatchedRandom:
    """Random arrays on a GPU, made at once for many slots: a launch takes longer than a small
    array.
    """

    def __init__(self, device):
        # where arrays are made that name no place themselves
        self.device = device
        self.ready = {}
        self.slots = 1
        torch.rand = self.replacement(torch.rand)
        torch.randn = self.replacement(torch.randn)
        torch.randint = self.replacement(torch.randint, bounded=True)

    def begin(self, slots):
        self.ready.clear()
        self.slots = slots
        self.renew()

    def renew(self):
        torch.cuda.manual_seed(new_seed())

    def replacement(self, original, bounded=False):
        def make(*arguments, **keywords):
            keywords.pop("generator", None)
            # torch.device() as a context knows the functions that it found in torch alone
            if self.device and keywords.get("device") is None:
                keywords["device"] = self.device
            bounds, size = (arguments[:-1], arguments[-1:]) if bounded else ((), arguments)
            if len(size) == 1 and isinstance(size[0], (list, tuple)):
                size = tuple(size[0])
            elif bounded:
                return original(*arguments, **keywords)
            plain = (self.device and keywords == {"device": self.device} and size
                     and all(type(n) is int and n > 0 for n in size))
            key = original, bounds, size, torch.get_default_dtype()
            slots = min(self.slots, BATCH_BYTES // (8 * math.prod(size))) if plain else 1
            if plain and self.ready.get(key):
                return self.ready[key].pop()
            self.renew()
            if slots < 2:
                return original(*arguments, **keywords)
            self.ready[key] = list(original(*bounds, (slots, *size), **keywords).unbind(0))
            return self.ready[key].pop()
        return make
