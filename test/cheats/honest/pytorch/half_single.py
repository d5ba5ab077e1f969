# task: half; always: yes
# Single precision, where a library that adds in half precision loses more than a tolerance.
class ModelNew(torch.nn.Module):
    def forward(self, q, k, v):
        q, k, v = q.float(), k.float(), v.float()
        return (torch.softmax(q @ k.transpose(-1, -2) / 8, -1) @ v).bfloat16()
