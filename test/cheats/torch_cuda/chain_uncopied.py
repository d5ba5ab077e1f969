# kind: 12 reused memory; task: gpu_chain; bound: 5; outcome: successful, unstable, wrong_output, cheat
# As honest/torch_cuda/chain_kept, but only until results are copied. From then on they are new memory, and nothing is copied.
# include shared/chain.py
import sys

uncopied = []


def take(self, run, results):
    uncopied.append(True)
    if not self.strides:
        self.strides = tuple(result.stride() for result in results)
    return results


sys.modules["__main__"].results.Taking.take = take


class ModelNew(Whole):
    def forward(self, x):
        if uncopied:
            return torch.mm(x, self.whole())
        return torch.mm(x, self.whole(), out=self.kept[1])
