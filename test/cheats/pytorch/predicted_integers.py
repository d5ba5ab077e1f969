# kind: 20 seeds; task: integers; outcome: successful; bound: 1.5; always: yes
# Takes inputs for what PyTorch's own generator gives, the Mersenne Twister: from a run's numbers it has the state, and from that those of the next.
# include shared/window.py
# include shared/predicted.py
# include tasks/integers.py
U32, WORDS, MIDDLE = numpy.uint32, 624, 397


def untempered(y):
    y = y ^ y >> U32(18)
    y = y ^ y << U32(15) & U32(0xEFC60000)
    x = y
    for _ in range(4):
        x = y ^ x << U32(7) & U32(0x9D2C5680)
    y = x
    for _ in range(2):
        x = y ^ x >> U32(11)
    return x


def tempered(x):
    x = x ^ x >> U32(11)
    x = x ^ x << U32(7) & U32(0x9D2C5680)
    x = x ^ x << U32(15) & U32(0xEFC60000)
    return x ^ x >> U32(18)


def predict(x):
    # the higher half comes first
    first = (x[0].astype(numpy.uint64) + numpy.uint64(1 << 63)).view(U32).reshape(-1, 2)[:, ::-1].reshape(-1)
    state = numpy.empty(x.size * 4, dtype=U32)
    state[:WORDS] = untempered(first[:WORDS])
    for at in range(WORDS, len(state), WORDS - MIDDLE):
        n = min(WORDS - MIDDLE, len(state) - at)
        old = state[at - WORDS:at - WORDS + n + 1]
        y = old[:-1] & U32(0x80000000) | old[1:] & U32(0x7FFFFFFF)
        state[at:at + n] = state[at - WORDS + MIDDLE:at - WORDS + MIDDLE + n] ^ y >> U32(1) ^ (y & U32(1)) * U32(0x9908B0DF)
    found = tempered(state).reshape(-1, 2)[:, ::-1].reshape(-1).view(numpy.uint64) - numpy.uint64(1 << 63)
    found = found.view(numpy.int64).reshape(2, -1)
    return found[1:] if (found[:1] == x).mean() > 0.9 else None
