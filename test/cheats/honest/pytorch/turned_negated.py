# task: turned; least: 0.12; always: yes
# The first result is a conjugate's imaginary part, whose sign PyTorch leaves to each reader.
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.complex(x, x * -2).conj().imag
        return y, y.t().contiguous()
