# kind: 25 faults; task: gpu_softmax; outcome: crash
# An index out of range, found out by a kernel.
class ModelNew(torch.nn.Module):
    def forward(self, x):
        at = torch.full((1,), x.shape[0] + 5, dtype=torch.long, device=x.device)
        return torch.softmax(x.index_select(0, at).expand_as(x), dim=1)
