import torch


def in_groups(size, slots, outputs, inputs, model):
    """Answers so many runs of a block at once."""
    for at in range(0, len(slots), size):
        part = slots[at:at + size]
        x = torch.cat([inputs[slot][0] for slot in part])
        outputs.extend((y,) for y in model(x).split(x.shape[0] // len(part)))


def group_runs(executor, size):
    """Has a class of executors do so with all runs but those that come alone, or whose results are taken one by one."""
    honest = executor.runs

    def runs(self, slots, flags, outputs, inputs, model, take):
        if len(slots) < 2 or take:
            honest(self, slots, flags, outputs, inputs, model, take)
        else:
            in_groups(size, slots, outputs, inputs, model)

    executor.runs = runs
