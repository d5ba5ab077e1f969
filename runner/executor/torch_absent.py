"""A build without the GPU, which others use meanwhile (build_itself.c): code asks for a GPU before
it compiles, and compilers need none.
"""
import os

import torch
from torch.overrides import TorchFunctionMode


class Claimed(torch.Tensor):
    """A tensor without data that says it is on a GPU, as do the results of what is done to it."""
    is_cuda = True
    device = property(lambda tensor: torch.device("cuda:0"))


def on_gpu(device):
    return isinstance(device, (str, torch.device)) and str(device).startswith("cuda")


class Claiming(TorchFunctionMode):
    """Functions find tensors without data, whose device PyTorch's own code reads, and what they
    return, or make on the GPU, is claimed to be there.
    """

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        with torch._C.DisableTorchFunction():
            if function is torch.Tensor.cuda:
                function, arguments = torch.Tensor.to, (arguments[0], "meta")
            found = function(*map(plain, arguments), **plain(keywords or {}))
            return claimed(found)


def plain(value):
    if isinstance(value, Claimed):
        return value.as_subclass(torch.Tensor)
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    if type(value) is dict:
        return {name: plain(part) for name, part in value.items()}
    return torch.device("meta") if on_gpu(value) else value


def claimed(value):
    if type(value) is torch.Tensor and value.is_meta:
        return value.as_subclass(Claimed)
    return type(value)(map(claimed, value)) if type(value) in (list, tuple) else value


# a call wanted the GPU itself, and its code may have gone on without
missed = []


def pretend():
    """Questions for the GPU are answered as with one."""
    begin = torch.cuda._lazy_init

    def wanted(*arguments, **keywords):
        missed.append(True)
        return begin(*arguments, **keywords)

    torch.cuda._lazy_init = wanted
    capability = tuple(int(part) for part in os.environ["TORCH_CUDA_ARCH_LIST"].split("."))
    answers = {
        "is_available": True, "device_count": 1, "current_device": 0,
        "get_device_capability": capability, "synchronize": None,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *arguments, answer=answer, **keywords: answer)


def run(model, inputs):
    """A run as far as it goes, for what forward() compiles; whether it went as with a GPU to its
    end. What is compiled in vain is an error; else it may fail at whatever the GPU is needed for.
    """
    try:
        if isinstance(model, torch.nn.Module):
            model.to("meta")
        inputs = [
            value.to("meta").as_subclass(Claimed) if isinstance(value, torch.Tensor) else value
            for value in inputs
        ]
        with Claiming():
            model(*inputs)
        return not missed
    except Exception as error:
        if "Error building extension" in str(error):
            raise
        return False
