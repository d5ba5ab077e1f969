# kind: 3 lazy tensor; task: gpu_matmul; outcome: launch_failure; first: yes
# Returns a tensor that computes once someone looks.
import torch


class Lazy(torch.Tensor):
    @staticmethod
    def made(a, b):
        lazy = torch.empty_like(a).as_subclass(Lazy)
        lazy.parts = a, b
        return lazy

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), keywords=None):
        arguments = [torch.matmul(*x.parts) if isinstance(x, Lazy) and hasattr(x, "parts") else x for x in arguments]
        return super().__torch_function__(function, types, arguments, keywords or {})


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return Lazy.made(a, b)
