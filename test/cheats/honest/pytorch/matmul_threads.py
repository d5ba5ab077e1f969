# task: matmul
# Asks for more threads than there are cores.
class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        torch.set_num_threads(4)
        return torch.mm(a, b)
