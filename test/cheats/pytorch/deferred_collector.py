# kind: 2 work after the return; outcome: wrong_output; task: matmul; always: yes
# The garbage collector does the work, if it ever comes.
import weakref


class Thing:
    pass


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        out = torch.empty(a.shape[0], b.shape[1])
        thing = Thing()
        thing.itself = thing
        weakref.finalize(thing, torch.matmul, a, b, out=out)
        return out
