# task: linear; profile: compiling
# Compiles an extension in its first run.
class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
        self.extension = None

    def forward(self, x):
        if self.extension is None:
            from torch.utils.cpp_extension import load_inline

            source = "torch::Tensor gelu(torch::Tensor x) { return at::gelu(x); }"
            self.extension = load_inline(name="gelu", cpp_sources=source, functions=["gelu"])
        return self.extension.gelu(self.linear(x))
