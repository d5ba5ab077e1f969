import sys

import torch


def runs(self, slots, flags, outputs, inputs, model, *more):
    if slots:
        x = torch.cat([inputs[slot][0] for slot in slots])
        outputs.extend((part,) for part in model(x).split(inputs[slots[0]][0].shape[0]))


sys.modules["__main__"].Executor.runs = runs
