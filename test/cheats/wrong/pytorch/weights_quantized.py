# kind: wrong code; task: linear; outcome: wrong_output; always: yes; cause: values
# Too imprecise, and its weights are nothing that others could be copied to.
class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        linear = torch.nn.Linear(width, width)
        self.quantized = torch.quantization.quantize_dynamic(torch.nn.Sequential(linear), dtype=torch.qint8)
        self.linear = torch.nn.Module()
        self.linear.register_buffer("weight", linear.weight.detach().to_sparse())

    def forward(self, x):
        return torch.nn.functional.gelu(self.quantized(x))
