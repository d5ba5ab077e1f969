# task: small; least: 0.7; always: yes
# A kernel that is compiled to a file of a new name, loaded, and deleted.
import ctypes
import os
import subprocess
import tempfile

SOURCE = """
#include <math.h>
void finish(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = tanhf(x[i]) * 2 + 1; }
"""


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(32, 32)
        with tempfile.NamedTemporaryFile(suffix=".c", mode="w", delete=False) as file:
            file.write(SOURCE)
        built = file.name[:-2] + ".so"
        subprocess.run(["gcc", "-O3", "-shared", "-fPIC", file.name, "-o", built, "-lm"], check=True)
        self.library = ctypes.CDLL(built)
        os.unlink(file.name)
        os.unlink(built)

    def forward(self, x):
        x = self.linear(x)
        y = torch.empty_like(x)
        self.library.finish(ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()), ctypes.c_long(x.numel()))
        return y
