"""What runs of a model return: the tensors of a result."""
import contextlib
import time

import torch
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode

from torch_arguments import CODES, PLAIN, check_tensor
from torch_common import Unsupported, patched

# for threads that are still at work, in seconds
MOMENT = 0.02
CASTS = {torch.Tensor.half: torch.float16, torch.Tensor.bfloat16: torch.bfloat16}
HALF = tuple(CASTS.values())


def copy_weights(state, model):
    """Gives a model the reference's weights of the same names and shapes, if they have one yet."""
    own = model.state_dict(keep_vars=True)
    # what modules keep beside tensors, as quantized ones do, has no place among weights
    fitting = {
        name: value for name, value in state.items()
        if isinstance(value, torch.Tensor) and not is_lazy(value)
        and isinstance(own.get(name), torch.Tensor)
        and (is_lazy(own[name]) or own[name].shape == value.shape)
    }
    made = [own[name] for name in fitting if not is_lazy(own[name])]
    try:
        with torch.inference_mode(any(value.is_inference() for value in made)):
            model.load_state_dict(fitting, strict=False)
    except (KeyError, RuntimeError):
        # sparse or quantized ones, for instance: the code fails by its own outputs
        pass


def waited(model, gpu):
    """A module that waits for whatever another has left at work."""
    def run(*inputs):
        result = model(*inputs)
        if gpu:
            torch.cuda.synchronize()
        else:
            time.sleep(MOMENT)
        return result

    return run


class SingleForHalf(TorchFunctionMode):
    """Gives single precision to what asks for half, also by autocast, and notes which half."""

    def __init__(self):
        super().__init__()
        self.half = None

    def single(self, asked):
        if isinstance(asked, torch.dtype) and asked in HALF:
            self.half = asked
            return torch.float32
        return asked

    def entered(self, autocast):
        if autocast._enabled:
            self.single(autocast.fast_dtype)
        return autocast

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        if function in CASTS:
            function, arguments = torch.Tensor.to, (arguments[0], CASTS[function])
        return function(*map(self.single, arguments),
                        **{name: self.single(value) for name, value in (keywords or {}).items()})


def in_single(module, call, inputs, dtypes):
    """The results of a call with single precision for TF32 and half, also where it casts, rounded
    to dtypes at last, and the number of the half's type, or 0. None where the module refuses that.
    """
    own = (*module.parameters(), *module.buffers()) if isinstance(module, torch.nn.Module) else ()
    half = next((x.dtype for x in (*own, *inputs) if is_half(x)), None)
    mode = SingleForHalf()
    try:
        with contextlib.ExitStack() as patches:
            for library in torch.backends.cudnn, torch.backends.cuda.matmul:
                patches.enter_context(patched(library, allow_tf32=False))
            patches.enter_context(patched(torch.autocast, __enter__=lambda self: mode.entered(self),
                                          __exit__=lambda *arguments: None))
            for tensor in filter(is_half, own):
                patches.enter_context(patched(tensor, data=tensor.data.float()))
            with mode:
                found = flatten(call(*(x.float() if is_half(x) else x for x in inputs)))
        found = tuple(x.to(dtype) for x, dtype in zip(found, dtypes, strict=True))
        return found, CODES.get(half or mode.half, 0)
    except Exception:
        return (), 0


def is_half(value):
    return isinstance(value, torch.Tensor) and value.dtype in HALF


def find_tensors(value, found):
    if type(value) in PLAIN:
        # PyTorch leaves the sign of some views, as of a conjugate's imaginary part, to each reader
        found.append(value.resolve_neg())
    elif isinstance(value, (list, tuple)):
        for part in value:
            find_tensors(part, found)
    elif isinstance(value, dict):
        for part in value.values():
            find_tensors(part, found)
    elif isinstance(value, torch.Tensor):
        check_tensor(value, "a run returns")
    elif value is not None:
        raise Unsupported(f"a run returns an object of type {type(value).__name__}; tensors are "
                          "supported, and tuples, lists and dicts of them")


def flatten(result):
    """The tensors of a model's result, in order."""
    # no inner function: one that names itself is a cycle, which keeps the tensors
    found = []
    find_tensors(result, found)
    if not found:
        raise Unsupported("a run returns no tensor")
    return tuple(found)
