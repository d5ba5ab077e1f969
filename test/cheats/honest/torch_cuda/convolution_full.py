# task: gpu_convolution; least: 0.2
# In float32, where the reference's convolution keeps eleven bits of its inputs.
# include tasks/gpu_convolution.py


class ModelNew(Model):
    def forward(self, x):
        with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            return super().forward(x)
