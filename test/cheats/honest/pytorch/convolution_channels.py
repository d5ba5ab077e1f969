# task: convolution; least: 0.34; always: yes
# Channels last, and so is what it returns.
# include tasks/convolution.py


class ModelNew(Model):
    def __init__(self, width):
        super().__init__(width)
        self.convolution.to(memory_format=torch.channels_last)

    def forward(self, x):
        y = self.convolution(x.contiguous(memory_format=torch.channels_last))
        return torch.relu_(self.norm(y))
