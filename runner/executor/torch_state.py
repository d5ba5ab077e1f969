"""Tensors that a model keeps in itself, brought back before each run.

A part of exec_torch.py. They are the buffers of the model's modules and the tensors that are
attributes of these. A run restores them within the clock, because outside it no code of a candidate
runs while inputs are there. Binding a name costs next to nothing, and that is all that is done for
a reference. A candidate that writes to its tensors pays for their copies.
"""
import torch
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.lazy import LazyModuleMixin


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
        # training writes to statistics that most models don't read, so they are not restored
        self.places, self.statistics = [], []
        for prefix, module in model.named_modules() if isinstance(model, torch.nn.Module) else ():
            # the first run makes a lazy module what it is
            if isinstance(module, (LazyModuleMixin, torch.jit.ScriptModule)):
                continue
            trained = isinstance(module, _NormBase) and module.training
            (self.statistics if trained else self.places).extend(
                Place(".".join(filter(None, ("self", prefix, name))), container, name, writes)
                for container in (module.__dict__, module._buffers)
                for name, value in container.items() if isinstance(value, torch.Tensor)
            )

    def names(self):
        """Of what runs have changed, restored or not; of statistics if they change nothing else."""
        return changed(self.places) or changed(self.statistics)

    def restored(self, model):
        """The model, each of whose runs begins with the tensors that it had after construction."""
        def run(*inputs):
            for place in self.places:
                place.restore(self.runs < 3)
            self.runs += 1
            return model(*inputs)

        return run


def changed(places):
    for place in places:
        place.look(True)
    return ", ".join(place.path for place in places if place.bound or place.written)


def version(tensor):
    """How often a tensor was written to; of those made in inference mode PyTorch counts nothing."""
    return 0 if tensor.is_inference() else tensor._version


def same(tensor, copy):
    """Whether a tensor holds what its copy does, as far as that can be told."""
    try:
        return torch.equal(tensor, copy)
    except (RuntimeError, NotImplementedError):
        return True
