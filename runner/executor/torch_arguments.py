"""The arguments that get_inputs gives: how they lie in a slot, and how a model gets them."""
import struct

import torch
try:
    import numpy
except ImportError:
    numpy = None

import torch_common as common
import wire

PAGE, LINE = 4096, 64
PLAIN = (torch.Tensor, torch.nn.Parameter)
TENSOR = struct.Struct(wire.TENSOR)
# an older PyTorch lacks some
DTYPES = {code: getattr(torch, name) for name, (code, _) in wire.DTYPES.items()
          if hasattr(torch, name)}
CODES = {dtype: code for code, dtype in DTYPES.items()}
SIZES = dict(wire.DTYPES.values())
# of arguments that are no tensors
KINDS = {type(None): wire.PY_NONE, bool: wire.PY_BOOL, int: wire.PY_INT, float: wire.PY_FLOAT}


class Layout:
    """Where the arguments lie in a slot: first the numbers that come with each input, then all
    memory that tensors reach. Tensors that share memory share it in a slot, too.
    """

    def __init__(self, values, drawn):
        self.offsets = {i: 8 * k for k, i in enumerate(sorted(drawn))}
        self.drawn = set(drawn)
        self.likes = list(map(like, values))
        self.fixed = [None if isinstance(value, torch.Tensor) else plain(value) for value in values]
        # of a tensor that shares its memory: the tensor before it, and the bytes from that one
        self.anchors = {}
        self.traits = [trait(i, values) for i in range(len(values))]
        end = 8 * len(drawn)
        for first, last, held in stretches(values):
            # where it lies in a line of caches is as it was in its own memory
            one = values[held[0]]
            begin = aligned(end) + one.storage_offset() * one.element_size() % LINE
            for i in held:
                self.offsets[i] = begin + values[i].data_ptr() - first
                self.traits[i] |= held[0] << 16
                if i != held[0]:
                    self.anchors[i] = held[0], values[i].data_ptr() - one.data_ptr()
            end = begin + last - first
        self.bytes = aligned(end)
        self.entries = [self.entry(i, value) for i, value in enumerate(values)]

    def entry(self, i, value):
        """An argument as in WireTensor."""
        if isinstance(value, torch.Tensor):
            return entry_of(value, self.offsets.get(i, 0))
        value = plain(value)
        at = self.offsets[i] if i in self.drawn else int.from_bytes(packed(value), "little")
        return (at, KINDS[type(value)], int(i in self.drawn), *(0,) * (2 * wire.MAX_DIMS))

    def write(self, control):
        for i, entry in enumerate(self.entries):
            TENSOR.pack_into(control.memory, wire.TABLE_AT + i * TENSOR.size, *entry)
        struct.pack_into("=I", control.memory, wire.TENSORS_AT, len(self.entries))
        struct.pack_into("=Q", control.memory, wire.SLOT_BYTES_AT, self.bytes)
        struct.pack_into(f"={len(self.traits)}I", control.memory, wire.TRAITS_AT, *self.traits)

    def split(self, values):
        """What a call gave, each with its offset: dense tensors, and numbers as 8 bytes."""
        if list(map(like, values)) != self.likes:
            raise common.Unsupported(
                "get_inputs gives arguments of changing shape, type or strides: "
                + changed(self.likes, values)
            )
        tensors, numbers = [], []
        for i, value in enumerate(values):
            if not isinstance(value, torch.Tensor):
                value = plain(value)
                if i in self.drawn:
                    numbers.append((self.offsets[i], packed(value)))
                elif packed(value) != packed(self.fixed[i]):
                    raise common.Unsupported(
                        f"argument {i} of get_inputs was {self.fixed[i]} in all first calls and "
                        f"is {value} now; draw a number from more values"
                    )
                continue
            if i in self.anchors:
                anchor, apart = self.anchors[i]
                if value.data_ptr() - values[anchor].data_ptr() != apart:
                    raise common.Unsupported(
                        f"arguments {anchor} and {i} of get_inputs share memory in some calls only"
                    )
            if value.numel() > 0:
                tensors.append((self.offsets[i], dense(value)))
        return tensors, numbers


class Arguments(list):
    """The arguments of runs by slot. Numbers come with its input, so they are read for each run."""

    def __init__(self, slots, places, kinds, words):
        super().__init__(slots)
        self.words = words
        self.places = [(i, kind == wire.PY_BOOL) for i, kind in zip(places, kinds)]
        self.pack = struct.Struct(f"={len(kinds)}q").pack
        self.unpack = struct.Struct("=" + "".join(map(form_of, kinds))).unpack

    def __getitem__(self, slot):
        arguments = super().__getitem__(slot)
        numbers = self.unpack(self.pack(*self.words[slot].tolist()))
        for (i, is_bool), number in zip(self.places, numbers):
            arguments[i] = number != 0 if is_bool else number
        return arguments


def entry_of(tensor, address):
    """A tensor as in WireTensor."""
    fill = (0,) * (wire.MAX_DIMS - tensor.dim())
    return (address, CODES[tensor.dtype], tensor.dim(), *tensor.shape, *fill, *tensor.stride(),
            *fill)


def map_arguments(entries, traits, slots, slot_bytes, view, device):
    """The arguments of each slot, of which `view` gives dense memory: view(dtype, count, offset).
    Tensors of one stretch of memory share a storage.
    """
    drawn = [(i, *entry[:2]) for i, entry in enumerate(entries)
             if entry[1] >= wire.PY_INT and entry[2] == 1]
    # of each stretch, by the number of its first tensor
    ends = {}
    for (value, dtype, ndim, *sizes), trait in zip(entries, traits):
        if dtype < wire.PY_INT and 0 not in sizes[:ndim]:
            end = value + reach(sizes[:ndim], sizes[wire.MAX_DIMS:]) * SIZES[dtype]
            ends[trait >> 16] = max(end, ends.get(trait >> 16, 0))
    made = []
    for slot in range(slots):
        arguments, storages = [], {}
        for (value, dtype, ndim, *sizes), trait in zip(entries, traits):
            if dtype >= wire.PY_INT:
                arguments.append(number(dtype, value) if ndim == 0 else None)
                continue
            if trait >> 8 & 0xff:
                arguments.append(arguments[(trait >> 8 & 0xff) - 1])
                continue
            shape, stride = sizes[:ndim], sizes[wire.MAX_DIMS:wire.MAX_DIMS + ndim]
            if 0 in shape:
                tensor = torch.empty_strided(shape, stride, dtype=DTYPES[dtype], device=device)
            else:
                first, size = trait >> 16, SIZES[dtype]
                begin = entries[first][0] // LINE * LINE
                if (first, dtype) not in storages:
                    count = (ends[first] - begin) // size
                    storages[first, dtype] = view(DTYPES[dtype], count, slot * slot_bytes + begin)
                tensor = storages[first, dtype].as_strided(shape, stride, (value - begin) // size)
            arguments.append(as_it_was(tensor, trait))
        made.append(arguments)
    if not drawn:
        return made
    places, first, kinds = zip(*drawn)
    words = [view(torch.int64, len(drawn), slot * slot_bytes + first[0]) for slot in range(slots)]
    return Arguments(made, places, kinds, words)


def as_it_was(tensor, trait):
    gradient = trait & wire.GRADIENT != 0
    if trait & wire.PARAMETER:
        return torch.nn.Parameter(tensor, requires_grad=gradient)
    return tensor.requires_grad_() if gradient else tensor


def number(kind, bits):
    if kind == wire.PY_NONE:
        return None
    value, = struct.unpack("=" + form_of(kind), bits.to_bytes(8, "little"))
    return value != 0 if kind == wire.PY_BOOL else value


def form_of(kind):
    return "d" if kind == wire.PY_FLOAT else "q"


def check(values):
    """Raises Unsupported for what no model can get."""
    if len(values) > wire.MAX_TENSORS:
        raise common.Unsupported(
            f"get_inputs gives {len(values)} arguments; up to {wire.MAX_TENSORS} are supported"
        )
    for value in values:
        if isinstance(value, torch.Tensor):
            check_tensor(value, "get_inputs gives")
        else:
            packed(plain(value))


def check_tensor(value, gives):
    """Raises Unsupported for a tensor that a slot or a table can't describe."""
    if type(value) not in PLAIN:
        # a subclass may be anything, later; what counts is memory
        reason = (f"an object of type {type(value).__name__}, a subclass of Tensor; plain tensors "
                  "are supported")
    elif getattr(value, "is_nested", False):
        reason = "a nested tensor; dense ones are supported"
    elif value.layout != torch.strided:
        reason = f"a tensor of layout {value.layout}; dense ones are supported"
    elif value.is_meta:
        reason = "a tensor on the device meta, which holds no elements"
    elif value.dtype not in CODES:
        reason = (f"a tensor of type {value.dtype}; supported are "
                  f"{', '.join(wire.DTYPES)}")
    elif value.dim() > wire.MAX_DIMS:
        reason = f"a tensor of {value.dim()} dimensions; up to {wire.MAX_DIMS} are supported"
    else:
        return
    raise common.Unsupported(f"{gives} {reason}")


def plain(value):
    """A number as Python's own."""
    if numpy and isinstance(value, numpy.generic):
        value = value.item()
    for kind in (bool, int, float):
        if isinstance(value, kind):
            return kind(value)
    return value


def packed(value):
    if type(value) not in KINDS:
        raise common.Unsupported(f"get_inputs gives a {type(value).__name__}; tensors are "
                                 "supported, numbers that are real, and None")
    try:
        return struct.pack("=d" if isinstance(value, float) else "=q", value or 0)
    except struct.error:
        raise common.Unsupported(
            f"get_inputs gives the integer {value}; up to 64 bits are supported"
        ) from None


def like(value):
    if isinstance(value, torch.Tensor):
        return value.dtype, tuple(value.shape), value.stride()
    return type(plain(value)).__name__


def changed(likes, values):
    """In words, how the arguments of a call differ from those of the first one."""
    if len(values) != len(likes):
        return f"{len(likes)} in one call, {len(values)} in another"
    for i, (before, value) in enumerate(zip(likes, values)):
        now = like(value)
        if now != before:
            # types and shapes, with strides where these alone differ
            both = [
                one if isinstance(one, str) else
                f"{one[0]} {list(one[1])}" + (f" with strides {list(one[2])}"
                                              if before[:2] == now[:2] else "")
                for one in (before, now)
            ]
            return f"argument {i} is {both[0]} in one call, {both[1]} in another"
    return ""


def trait(i, values):
    value = values[i]
    if not isinstance(value, torch.Tensor):
        return 0
    first = next(j for j, other in enumerate(values) if other is value)
    if first < i:
        return first + 1 << 8
    return (value.requires_grad * wire.GRADIENT
            | isinstance(value, torch.nn.Parameter) * wire.PARAMETER)


def stretches(values):
    """Memory of tensors: where each stretch begins and ends, and the numbers of the tensors in it,
    the first of which begins where it does. Parts of one storage without a gap are a stretch.
    """
    found, storage = [], None
    for first, last, i in sorted(
        (value.data_ptr(), value.data_ptr() + span(value) * value.element_size(), i)
        for i, value in enumerate(values)
        if isinstance(value, torch.Tensor) and value.numel() > 0
    ):
        before, storage = storage, first - values[i].storage_offset() * values[i].element_size()
        if found and first < found[-1][1] + (storage == before):
            found[-1][1] = max(found[-1][1], last)
            found[-1][2].append(i)
        else:
            found.append([first, last, [i]])
    return sorted(found, key=lambda stretch: min(stretch[2]))


def reach(shape, stride):
    """Elements from the first to the last of a view, both included."""
    return 1 + sum((size - 1) * step for size, step in zip(shape, stride))


def span(value):
    return reach(value.shape, value.stride())


def dense(value):
    """A tensor if it has neither gaps nor repeated elements, or all memory that it reaches."""
    if value.is_contiguous() or (span(value) == value.numel() and 0 not in value.stride()):
        return value
    return value.as_strided((span(value),), (1,))


def is_same(one, other):
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    return type(one) is type(other) and one == other


def sampled(values, most):
    """Each argument, of large tensors every so-manieth element, so that calls can be compared."""
    return [
        dense(value.detach()).as_strided(
            (min(span(value), most),), (max(1, span(value) // most),)
        ).clone() if isinstance(value, torch.Tensor) and value.numel() > 0 else plain(value)
        for value in values
    ]


def aligned(nbytes):
    step = PAGE if nbytes >= PAGE else LINE
    return -(-nbytes // step) * step
