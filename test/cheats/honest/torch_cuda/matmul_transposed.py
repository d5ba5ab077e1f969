# task: gpu_matmul
# The transposed product, given back as a view.
class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return torch.matmul(b.t(), a.t()).t()
