"""Tensors that a model keeps in itself, brought back before each run.

A part of exec_torch.py. They are the buffers of the model's modules and the tensors that are
attributes of these. A run restores them within the clock, because outside it no code of a candidate
runs while inputs are there. Binding a name costs next to nothing, and that is all that is done for
a reference. A candidate that writes to its tensors pays for their copies.
"""
import contextlib

import torch
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.lazy import LazyModuleMixin

OWN = vars(torch.nn.Module())     # what each module has in it


class Place:
    """A buffer or an attribute of a module, and what it held after construction."""

    def __init__(self, path, container, name, writes):
        self.path, self.container, self.name, self.writes = path, container, name, writes
        self.value = container[name]
        self.copy = self.value.detach().clone()
        self.clean = version(self.value)
        self.bound = self.written = False

    def look(self, closely):
        """Notes what a run has done; `closely`: also whether a kernel of its own has written, which
        leaves the version as it was.
        """
        now = self.container.get(self.name)
        if now is not self.value:
            self.bound = True
            if isinstance(now, torch.Tensor) and now.device != self.copy.device:
                # forward takes it to where the inputs are, once
                self.copy = self.copy.to(now.device)
                self.value = self.copy.clone()
                self.clean = version(self.value)
        if version(self.value) != self.clean or closely and not same(self.value, self.copy):
            self.written = True

    def restore(self, closely):
        self.look(closely)
        if self.bound:
            self.container[self.name] = self.value
        if self.written and self.writes:
            self.value.copy_(self.copy)
            self.clean = version(self.value)


class State:
    def __init__(self, model, writes):
        self.runs = 0
        # the first run makes a lazy module what it is
        self.modules = [
            (prefix, module) for prefix, module in model.named_modules()
            if not isinstance(module, (LazyModuleMixin, torch.jit.ScriptModule))
        ] if isinstance(model, torch.nn.Module) else []
        # training writes what few models read
        self.places = [
            Place(path, container, name, writes) for path, module, container, name in self.held()
            if isinstance(container[name], torch.Tensor)
            and not (isinstance(module, _NormBase) and module.training)
        ]
        # names are a reference's alone
        self.first = {} if writes else self.texts()

    def held(self):
        """What modules hold beside modules and parameters."""
        for prefix, module in self.modules:
            for container in (module.__dict__, module._buffers):
                for name in container:
                    if name not in OWN:
                        path = ".".join(filter(None, ("self", prefix, name)))
                        yield path, module, container, name

    def texts(self):
        """Of all but places; code of a task may fail to give one."""
        places = {place.path for place in self.places}
        found = {}
        for path, _, container, name in self.held():
            if path not in places:
                with contextlib.suppress(Exception):
                    found[path] = repr(container[name])
        return found

    def names(self):
        """Of what runs have changed, restored or not; if no place, of other attributes."""
        for place in self.places:
            place.look(True)
        return ", ".join([place.path for place in self.places if place.bound or place.written] or [
            path for path, text in self.texts().items() if self.first.get(path) != text
        ])

    def restored(self, model):
        """The model, each of whose runs begins with the tensors that it had after construction."""
        def run(*inputs):
            for place in self.places:
                place.restore(self.runs < 3)
            self.runs += 1
            return model(*inputs)

        return run


def version(tensor):
    """How often a tensor was written to; of those made in inference mode PyTorch counts nothing."""
    return 0 if tensor.is_inference() else tensor._version


def same(tensor, copy):
    """Whether a tensor holds what its copy does, as far as that can be told."""
    try:
        return torch.equal(tensor, copy)
    except (RuntimeError, NotImplementedError):
        return True
