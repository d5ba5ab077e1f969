"""The state that a model keeps in itself, brought back before each run.

A part of exec_torch.py. State is what the attributes and buffers of the model's modules hold beside
parameters. Outside the clock no code of a candidate runs while inputs are there, so a run restores
state within the clock. Binding names costs next to nothing there, and that is all that is done for
a reference. A candidate that writes to its tensors pays for their copies.
"""
import torch
from torch.nn.modules.lazy import LazyModuleMixin

INTERNAL = frozenset(torch.nn.Module().__dict__)
LISTS = (list, dict, set)
ABSENT = object()


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
            self.copy = value.copy()

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
            value = self.copy.copy() if isinstance(self.value, LISTS) else self.value
        self.bound = value
        if value is ABSENT:
            self.container.pop(self.name, None)
        else:
            self.container[self.name] = value


class State:
    def __init__(self, model, writes):
        named = model.named_modules() if isinstance(model, torch.nn.Module) else ()
        # the first run makes a lazy module what it is: that is no state
        self.modules = [one for one in named if not isinstance(one[1], LazyModuleMixin)]
        self.writes = writes
        self.places = {}
        self.changed = []
        self.runs, self.known = 0, False
        self.find_places()

    def find_places(self):
        for prefix, module in self.modules:
            for container, internal in ((module.__dict__, INTERNAL), (module._buffers, ())):
                for name, value in container.items():
                    if name not in internal and (id(container), name) not in self.places:
                        path = ".".join(part for part in ("self", prefix, name) if part)
                        self.places[id(container), name] = Place(
                            path, container, name, ABSENT if self.runs else value, self.writes
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
            if place.written and self.writes or place.changed and not place.written
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


def alike(now, before):
    """Whether a list holds the same objects."""
    if type(now) is not type(before) or len(now) != len(before):
        return False
    if isinstance(now, dict):
        return all(now.get(key, ABSENT) is value for key, value in before.items())
    if isinstance(now, set):
        return now == before
    return all(one is other for one, other in zip(now, before))
