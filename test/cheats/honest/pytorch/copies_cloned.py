# task: copies
# What views of its input cost where the executor copies them: copies in their order.
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x.clone().t(), x[:1].expand(1024, 512).contiguous()
