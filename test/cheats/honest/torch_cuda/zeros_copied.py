# task: gpu_diagonals; least: 0.6
# Zeros, and the diagonals copied in.
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.zeros(x.shape[0], x.shape[1], x.shape[1], device=x.device)
        y.diagonal(dim1=1, dim2=2).copy_(x)
        return y
