"""The state that a model keeps in itself, brought back before each run.

A part of exec_torch.py. State is what the attributes and buffers of the model's modules hold beside
parameters. Outside the clock no code of a candidate runs while inputs are there, so a run restores
state within the clock. Binding names costs next to nothing there, and that is all that is done for
a reference. A candidate that writes to its tensors pays for their copies.
"""
import torch

INTERNAL = frozenset(torch.nn.Module().__dict__)
LISTS = (list, dict, set)
ABSENT = object()


class Place:
    """An attribute or a buffer of a module: what it held after construction."""

    def __init__(self, path, container, name, value):
        self.path, self.container, self.name = path, container, name
        self.value = self.bound = value
        self.changed = self.written = False
        self.is_tensor = isinstance(value, torch.Tensor)
        if self.is_tensor:
            self.copy, self.version = value.detach().clone(), value._version
        elif isinstance(value, LISTS):
            self.copy = value.copy()

    def look(self):
        """Notes whether runs have bound another value, or written to this one."""
        now = self.container.get(self.name, ABSENT)
        self.changed = now is not self.bound
        if self.is_tensor:
            self.written = self.bound._version != self.version
            if self.changed and isinstance(now, torch.Tensor) and now.device != self.copy.device:
                # forward takes it to where the inputs are, once
                self.copy = self.copy.to(now.device)
                self.value = self.copy.clone()
        elif isinstance(self.value, LISTS):
            self.changed = self.changed or not alike(now, self.copy)

    def restore(self, known):
        if self.is_tensor:
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
        self.modules = list(model.named_modules()) if isinstance(model, torch.nn.Module) else []
        self.writes = writes
        self.places = {}
        self.changed = []
        self.began = self.known = False
        self.find_places()

    def find_places(self):
        for prefix, module in self.modules:
            for container, internal in ((module.__dict__, INTERNAL), (module._buffers, ())):
                for name, value in container.items():
                    if name not in internal and (id(container), name) not in self.places:
                        path = ".".join(part for part in ("self", prefix, name) if part)
                        self.places[id(container), name] = Place(
                            path, container, name, ABSENT if self.began else value
                        )

    def look(self):
        """After the first block: what runs change, and what of it is restored."""
        self.find_places()
        for place in self.places.values():
            place.look()
            if not place.changed and not place.written and place.bound is not place.value:
                place.restore(True)
        self.changed = [
            place for place in self.places.values()
            if place.written and self.writes or place.changed and not place.written
        ]
        self.known = True

    def names(self):
        """Of what runs have changed, restored or not."""
        if self.began and not self.known:
            self.look()
        return ", ".join(
            place.path for place in self.places.values() if place.changed or place.written
        )

    def restored(self, model):
        """The model, each of whose runs begins with the state that it had after construction."""
        if self.began and not self.known:
            self.look()

        def run(*inputs):
            if self.known:
                for place in self.changed:
                    place.restore(True)
            elif self.began:
                self.find_places()
                for place in self.places.values():
                    place.restore(False)
            self.began = True
            return model(*inputs)

        return run


def alike(now, before):
    """Whether a list holds the same objects."""
    if type(now) is not type(before) or len(now) != len(before):
        return False
    if isinstance(now, dict):
        return all(now.get(key, ABSENT) is value for key, value in before.items())
    if isinstance(now, set):
        return now == before
    return all(one is other for one, other in zip(now, before))
