# task: gpu_matmul
# Waits for its own work.
class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        out = torch.mm(a, b)
        torch.cuda.synchronize()
        return out
