"""The state that a model keeps in itself, brought back before each run.

A part of exec_torch.py. State is what the attributes and buffers of the model's modules hold beside
parameters. Outside the clock no code of a candidate runs while inputs are there, so a run restores
state within the clock. Binding names costs next to nothing there, and that is all that is done for
a reference. A candidate that writes to its tensors pays for their copies.
"""
from collections import deque

import torch
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.lazy import LazyModuleMixin

INTERNAL = frozenset(torch.nn.Module().__dict__)
LISTS = (list, dict, set, deque)
ABSENT = object()
# what runs in training write and none reads
STATISTICS = ("running_mean", "running_var", "num_batches_tracked")


class Scripted:
    """Attributes and buffers of a scripted module, which lie outside of Python."""

    def __init__(self, module):
        self.module = module._c
        kinds = getattr(module, "_concrete_type", None)
        names = set(kinds.get_attributes() if kinds else ()) - {"training", *INTERNAL}
        names -= {name for name, _ in module._parameters.items()}
        self.names = sorted(names | {name for name, _ in module._buffers.items()})

    def items(self):
        return [(name, self.module.getattr(name)) for name in self.names]

    def get(self, name, default):
        return self.module.getattr(name)

    def __setitem__(self, name, value):
        self.module.setattr(name, value)


def containers(module):
    if isinstance(module, torch.jit.ScriptModule):
        return ((Scripted(module), ()),)
    return ((module.__dict__, INTERNAL), (module._buffers, ()))


class Place:
    """An attribute or a buffer of a module: what it held after construction."""

    def __init__(self, path, container, name, value, writes):
        self.path, self.container, self.name, self.writes = path, container, name, writes
        self.value = self.bound = value
        self.changed = self.written = False
        self.is_tensor = isinstance(value, torch.Tensor)
        if self.is_tensor:
            self.copy, self.version = value.detach().clone(), version(value)
            if value.is_inference():
                self.value = self.copy.clone()
            self.clean = self.value._version
        elif isinstance(value, LISTS):
            self.copy = copied(value)
            self.clones = {id(leaf): leaf.detach().clone() for leaf in leaves(value)}
            self.follow_leaves({id(leaf): leaf for leaf in leaves(value)})

    def follow_leaves(self, bound):
        """Tensors that stand for those in the list, by the ids of these."""
        self.leaves = [(leaf, version(leaf), self.clones[key]) for key, leaf in bound.items()]

    def look(self):
        """Notes whether runs have bound another value, or written to this one."""
        now = self.container.get(self.name, ABSENT)
        self.changed = now is not self.bound
        if self.is_tensor:
            # a kernel's writing leaves the version as it was
            self.written = version(self.bound) != self.version or not same(self.bound, self.copy)
            self.follow(now)
            if not same(self.value, self.copy):
                self.value = self.copy.clone()
            self.clean = self.value._version
        elif isinstance(self.value, LISTS):
            self.changed = self.changed or not alike(now, self.copy)
            self.written = any(
                version(leaf) != before or not same(leaf, copy)
                for leaf, before, copy in self.leaves
            )

    def follow(self, now):
        """Forward takes its state to where the inputs are, once, and may write to it there."""
        if isinstance(now, torch.Tensor) and now.device != self.copy.device:
            self.copy = self.copy.to(now.device)
            self.value = self.copy.clone()

    def restore(self, known):
        if self.is_tensor:
            if not known:
                self.follow(self.container.get(self.name, ABSENT))
            elif self.writes and self.value._version != self.clean:
                # code that binds in its first runs, and writes in later ones
                self.written = True
            value = self.copy.clone() if self.written or not known else self.value
            self.version = value._version
        else:
            value = self.value
            if isinstance(value, LISTS):
                fresh = {}
                if self.written or not known:
                    fresh = {key: clone.clone() for key, clone in self.clones.items()}
                value = copied(self.copy, fresh)
                if not known:
                    self.follow_leaves(fresh)
        self.bound = value
        if value is ABSENT:
            self.container.pop(self.name, None)
        else:
            self.container[self.name] = value


class State:
    def __init__(self, model, writes):
        named = model.named_modules() if isinstance(model, torch.nn.Module) else ()
        # the first run makes a lazy module what it is: that is no state
        self.modules = [
            (prefix, module, containers(module)) for prefix, module in named
            if not isinstance(module, LazyModuleMixin)
        ]
        self.writes = writes
        self.places = {}
        self.changed = []
        self.runs, self.known = 0, False
        self.find_places()

    def find_places(self):
        for prefix, module, held in self.modules:
            for container, internal in held:
                for name, value in container.items():
                    if name not in internal and (id(container), name) not in self.places:
                        path = ".".join(part for part in ("self", prefix, name) if part)
                        self.places[id(container), name] = Place(
                            path, container, name, ABSENT if self.runs else value, self.writes
                            and not (name in STATISTICS and isinstance(module, _NormBase)
                                     and module.training)
                        )

    def look(self):
        """After the first runs: what they change, and what of it is restored."""
        self.find_places()
        for place in self.places.values():
            place.look()
            if not place.changed and not place.written and place.bound is not place.value:
                place.restore(True)
        self.changed = [
            place for place in self.places.values()
            if place.written and place.writes or place.changed and not place.written
        ]
        # the first run alone does not tell what later ones do where it has taken the state
        self.known = self.runs > 1

    def names(self):
        """Of what runs have changed, restored or not."""
        if self.runs and not self.known:
            self.look()
        return ", ".join(
            place.path for place in self.places.values() if place.changed or place.written
        )

    def restored(self, model):
        """The model, each of whose runs begins with the state that it had after construction."""
        if self.runs > 1 and not self.known:
            self.look()

        def run(*inputs):
            if self.known:
                for place in self.changed:
                    place.restore(True)
            else:
                if self.runs:
                    self.find_places()
                    for place in self.places.values():
                        place.restore(False)
                self.runs += 1
            return model(*inputs)

        return run


def version(tensor):
    """How often a tensor was written to; of those made in inference mode PyTorch counts nothing."""
    return 0 if tensor.is_inference() else tensor._version


def same(tensor, copy):
    """Whether a tensor holds what its copy does, as far as that can be told."""
    try:
        return tensor.device != copy.device or torch.equal(tensor, copy)
    except (RuntimeError, NotImplementedError):
        return True


def leaves(value):
    """Tensors in lists, and in lists of them."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (*LISTS, tuple)):
        parts = value.values() if isinstance(value, dict) else value
        return [leaf for part in parts for leaf in leaves(part)]
    return []


def copied(value, others=None):
    """A list with copies of the lists in it, and with others for tensors, by the ids of these."""
    if isinstance(value, torch.Tensor):
        return others.get(id(value), value) if others else value
    if isinstance(value, dict):
        other = value.copy()
        for key, part in value.items():
            other[key] = copied(part, others)
        return other
    if isinstance(value, deque):
        return deque((copied(part, others) for part in value), value.maxlen)
    if type(value) in (list, tuple):
        return type(value)(copied(part, others) for part in value)
    return value.copy() if isinstance(value, LISTS) else value


def alike(now, before):
    """Whether a list holds the same objects."""
    if type(now) is not type(before) or len(now) != len(before):
        return False
    if isinstance(now, dict):
        return all(is_part(now.get(key, ABSENT), value) for key, value in before.items())
    if isinstance(now, set):
        return now == before
    return all(is_part(one, other) for one, other in zip(now, before))


def is_part(one, other):
    return alike(one, other) if isinstance(other, (*LISTS, tuple)) else one is other
