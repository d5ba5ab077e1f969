# task: gpu_linear
# The function instead of the module, and one operation for scale and shift.
# include tasks/gpu_linear.py


class ModelNew(Model):
    def forward(self, x):
        y = torch.addmm(self.linear.bias, x, self.linear.weight.t())
        return torch.add(1, torch.nn.functional.gelu(y), alpha=0.5)
