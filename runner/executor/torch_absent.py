"""A build without the GPU, which others use meanwhile (build.c): code asks for a GPU before it
compiles, and compilers need none.
"""
import os

import torch


class Claimed(torch.Tensor):
    """A tensor without data that says it is on a GPU, as do the results of what is done to it."""
    is_cuda = True
    device = property(lambda tensor: torch.device("cuda:0"))


def pretend():
    """Questions for the GPU are answered as with one."""
    capability = tuple(int(part) for part in os.environ["TORCH_CUDA_ARCH_LIST"].split("."))
    answers = {
        "is_available": True, "device_count": 1, "current_device": 0,
        "get_device_capability": capability, "synchronize": None,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *arguments, answer=answer, **keywords: answer)


def run(model, inputs):
    """A run as far as it goes, for what forward() compiles. What is compiled in vain is an error;
    else the run may fail at whatever the GPU is needed for.
    """
    try:
        if isinstance(model, torch.nn.Module):
            model.to("meta")
        model(*(
            value.to("meta").as_subclass(Claimed) if isinstance(value, torch.Tensor) else value
            for value in inputs
        ))
    except Exception as error:
        if "Error building extension" in str(error):
            raise
