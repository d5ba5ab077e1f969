import torch


def in_groups(size, slots, outputs, inputs, model):
    """Answers so many runs of a block at once."""
    for at in range(0, len(slots), size):
        part = slots[at:at + size]
        x = torch.cat([inputs[slot][0] for slot in part])
        outputs.extend((y,) for y in model(x).split(x.shape[0] // len(part)))
