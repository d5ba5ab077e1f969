# task: moments
# Both moments at once.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        variance, mean = torch.var_mean(x, 1, unbiased=False)
        return mean, {"variance": variance, "positive": x.gt(0)}, x.argmax(1)
