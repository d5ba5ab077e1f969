# task: gpu_linear
# Scripted, so that pointwise parts are fused.
# include tasks/gpu_linear.py


@torch.jit.script
def finish(y):
    return torch.nn.functional.gelu(y) * 0.5 + 1


class ModelNew(Model):
    def forward(self, x):
        return finish(self.linear(x))
