"""Tensors that a model keeps in itself, brought back before each run.

They are buffers and attributes of the model's modules. A run restores them within the clock,
because outside it no code of a candidate runs while inputs are there. Binding a name costs next to
nothing, and so does a copy of a small tensor. No more is done for a reference. A candidate that
writes to large ones pays for the copies.
"""
import contextlib

import torch
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.lazy import LazyModuleMixin

OWN = vars(torch.nn.Module())     # what each module has in it
SMALL_BYTES = 1 << 16             # as of a vector of spectral norm, which each run writes to


class Place:
    """A buffer or an attribute of a module, and what it held after construction."""

    def __init__(self, path, name, get, put, writes):
        self.path, self.name, self.get, self.put = path, name, get, put
        self.value = get(name)
        self.writes = writes or self.value.numel() * self.value.element_size() <= SMALL_BYTES
        self.copy = self.value.detach().clone()
        self.clean = version(self.value)
        self.bound = self.written = False

    def look(self, closely):
        """Notes what a run has done; `closely`: also whether a kernel of its own has written, which
        leaves the version as it was.
        """
        now = self.get(self.name)
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
            self.put(self.name, self.value)
        if self.written and self.writes:
            self.value.copy_(self.copy)
            self.clean = version(self.value)


class State:
    def __init__(self, model, writes):
        self.runs = 0
        # the first run makes a lazy module what it is
        self.modules = [
            (prefix, module) for prefix, module in model.named_modules()
            if not isinstance(module, LazyModuleMixin)
        ] if isinstance(model, torch.nn.Module) else []
        # training writes what few models read
        self.places = [
            Place(path, name, get, put, writes) for path, module, name, get, put in self.held()
            if isinstance(get(name), torch.Tensor)
            and not (isinstance(module, _NormBase) and module.training)
        ]
        # names are a reference's alone
        self.first = {} if writes else self.texts()

    def held(self):
        """What modules hold beside modules and parameters."""
        for prefix, module in self.modules:
            if isinstance(module, torch.jit.ScriptModule):
                names = module._concrete_type.get_attributes()
                held = [(names, module._c.getattr, module._c.setattr)]
            else:
                held = [(x, x.get, x.__setitem__) for x in (module.__dict__, module._buffers)]
            for names, get, put in held:
                for name in names:
                    if name not in OWN:
                        path = ".".join(filter(None, ("self", prefix, name)))
                        yield path, module, name, get, put

    def texts(self):
        """Of all but places; code of a task may fail to give one."""
        places = {place.path for place in self.places}
        found = {}
        for path, _, name, get, _ in self.held():
            if path not in places:
                with contextlib.suppress(Exception):
                    found[path] = repr(get(name))
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
