"""The families of tasks.py in CUDA C++.

The references are what a beginner writes: a thread for a row, loads that lie apart, a launch for
each step. What makes a code fast is coalescing, shared memory, registers, vectors, fusion and
fewer launches. Sizes are such that a reference takes 50 to 500 us on an H100. A family takes other
sizes, too, and its codes stay the same.
"""
import re

from c_tasks import argument, scalar

HELD_OUT = ("cuda_l1_distance", "cuda_column_abs", "cuda_gram", "cuda_box_abs", "cuda_rms_rows",
            "cuda_clip")
SPELLINGS = 1  # of each form, by turn
BLOCKS = (32, 64, 128, 256, 512, 1024)
THREAD = "blockIdx.x * blockDim.x + threadIdx.x"
LANES = """
	int lane = threadIdx.x % 32;
	int warp = threadIdx.x / 32;"""


def kernel(name, parameters, body):
    return f"__global__ void {name}({parameters})\n{{\n{body.strip(chr(10))}\n}}\n\n"


def solve(parameters, kernels, *calls):
    """Kernels, and the function that calls them: (name, grid, block), or a statement."""
    given = ", ".join(re.findall(r"(\w+)(?=,|$)", parameters))
    text = "".join("\t" + (c if isinstance(c, str) else f"{c[0]}<<<{c[1]}, {c[2]}>>>({given})")
                   + ";\n" for c in calls)
    return f'{kernels}extern "C" void solve({parameters})\n{{\n{text}}}\n'


def single(parameters, grid, block, body, *before):
    return solve(parameters, kernel("kernel", parameters, body), *before, ("kernel", grid, block))


def each(template, *values):
    """A line for each value, which stands in it as @."""
    return "".join("\n" + template.replace("@", str(v)) for v in values)


def up(n, by):
    return f"({n} + {by - 1}) / {by}"


def by(step):
    return "++" if step == 1 else f" += {step}"


def warp_sum(of=32, stop=0):
    """The threads of a warp, or of parts of it, add up s; each has the sum then."""
    width = f", {of}" if of < 32 else ""
    return f"""
	for (int o = {of // 2}; o > {stop}; o /= 2)
		s += __shfl_xor_sync(0xffffffff, s, o{width});"""


def block_sum(size):
    """The threads of a block add up s by warps; each has the sum then."""
    return f"""
	__shared__ float part[{size // 32}];{warp_sum()}
	if (lane == 0)
		part[warp] = s;
	__syncthreads();
	s = 0;
	for (int k = 0; k < {size // 32}; k++)
		s += part[k];"""


def tree_sum(size, stop=0):
    """The threads of a block add up s in shared memory; each has the sum then."""
    return f"""
	__shared__ float part[{size}];
	part[threadIdx.x] = s;
	__syncthreads();
	for (int o = {size // 2}; o > {stop}; o /= 2)
	{{
		if (threadIdx.x < o)
			part[threadIdx.x] += part[threadIdx.x + o];
		__syncthreads();
	}}
	s = part[0];"""


def row_forms(formula, inputs, finish):
    """Kernels whose s is the sum of formula over row r: {form: (grid, block, body)}. The thread at
    a place among those that share the row goes on with finish(place, how many these are)."""
    found = {}

    def own(row, first, step, four):
        """What a thread adds up of its row."""
        start = f"""
	int r = {row};
	if (r >= rows)
		return;{each('	@ += (size_t) r * n;', *inputs)}
	float s = 0;"""
        if not four:
            number = re.sub(r"@(.)", r"\1[k]", formula)
            return f"""{start}
	for (int k = {first}; k < n; k{by(step)})
		s += {number};"""
        parts = (re.sub(r"@(.)", rf"\g<1>4.{c}", formula) for c in "xyzw")
        return f"""{start}
	for (int k = {first}; k < n / 4; k{by(step)})
	{{{each('		float4 @4 = ((const float4 *) @)[k];', *inputs)}{each('		s += @;', *parts)}
	}}"""

    def shared(form, row, size, place, count, total, grid, head="", four=False):
        found[form] = (grid, size,
                       head + own(row, place, count, four) + total + finish(place, count))

    for four in (False, True):
        more = "_vectors" if four else "s"
        for b in BLOCKS[:-1]:
            shared(f"vectors_{b}" if four else f"rows_{b}", THREAD, b, "0", 1, "",
                   up("rows", b), four=four)
        for b in (64, 256):
            for t in (2, 4, 8, 16):
                shared(f"part{more}_{t}_{b}", f"({THREAD}) / {t}", b, "lane", t, warp_sum(t),
                       up(f"rows * {t}", b), f"\n\tint lane = threadIdx.x % {t};", four)
        for b in BLOCKS:
            shared(f"tree{more}_{b}", "blockIdx.x", b, "threadIdx.x", b, tree_sum(b), "rows",
                   four=four)
            if b == 32:
                shared(f"warp{more}_32", "blockIdx.x", 32, "lane", 32, warp_sum(), "rows",
                       "\n\tint lane = threadIdx.x;", four)
                continue
            shared(f"warp{more}_{b}", f"blockIdx.x * {b // 32} + warp", b, "lane", 32, warp_sum(),
                   up("rows", b // 32), LANES, four)
            shared(f"block{more}_{b}", "blockIdx.x", b, "threadIdx.x", b, block_sum(b), "rows",
                   LANES, four)

    # Wrong codes forget a step of a sum, other warps, the rest, the last rows, or part of a vector.
    grid, b, good = found["warps_256"]
    vectors = found["warp_vectors_256"][2]
    found.update({
        "wrong_step": (grid, b, good.replace("o > 0", "o > 1")),
        "wrong_rest": (grid, b, good.replace("k < n", "k < n / 128 * 128")),
        "wrong_row": (grid, b, good.replace("blockIdx.x * 8", "blockIdx.x")),
        "wrong_vectors": (grid, b, vectors.replace("k < n / 4", "k < n")),
        "wrong_components": (grid, b, re.sub(r"\n\t\ts \+= [^\n]*4\.w[^\n]*", "", vectors)),
        "wrong_launch": ("rows / 256", 256, found["rows_256"][2])})
    for form, kind, old, new in (("tree", "trees", "o > 0", "o > 1"),
                                 ("warp", "blocks", block_sum(256), warp_sum())):
        found[f"wrong_{form}"] = (*found[f"{kind}_256"][:2],
                                  found[f"{kind}_256"][2].replace(old, new))
    return found


def reductions(formula, second=False, rows=4100, n=600):
    """out[r] = sum of formula over row r."""
    inputs = ("x", "y") if second else ("x", )
    parameters = "".join(f"const float *{i}, " for i in inputs) + "float *out, int rows, int n"
    arguments = [argument(i, [rows, n]) for i in inputs] + [
        argument("out", [rows], "out"), scalar("rows", rows), scalar("n", n)]

    def finish(place, count):
        return "\n\tout[r] = s;" if count == 1 else f"\n\tif ({place} == 0)\n\t\tout[r] = s;"

    made = row_forms(formula, inputs, finish)
    yield arguments, single(parameters, *made.pop("rows_256"))
    for form, some in made.items():
        yield form, single(parameters, *some)
    clear = "cudaMemsetAsync(out, 0, rows * sizeof(float))"
    for b in BLOCKS[1:]:
        grid, _, body = made[f"blocks_{b}"]
        own = body[:body.index("\n\t__shared__")] + warp_sum()
        added = own + "\n\tif (lane == 0)\n\t\tatomicAdd(out + r, s);"
        yield f"atomics_{b}", single(parameters, grid, b, added, clear)
    yield "wrong_clear", single(parameters, grid, b, added)
    yield "wrong_atomics", single(parameters, grid, b, own + "\n\tatomicAdd(out + r, s);", clear)


def rows(formula, result, rows=4100, n=600):
    """out = result of @ and #, the mean of formula over the row of @."""
    parameters = "const float *x, float *out, int rows, int n"
    arguments = [argument("x", [rows, n]), argument("out", [rows, n], "out"),
                 scalar("rows", rows), scalar("n", n)]
    mean = "\n\ts /= n;"

    def final(x):
        return result.replace("@", x).replace("#", "s")

    def finish(place, count):
        return f"""{mean}
	out += (size_t) r * n;
	for (int k = {place}; k < n; k{by(count)})
		out[k] = {final('x[k]')};"""

    def finish_vectors(place, count):
        parts = each("\t\t@;", *(f"x4.{c} = {final(f'x4.{c}')}" for c in "xyzw"))
        return f"""{mean}
	out += (size_t) r * n;
	for (int k = {place}; k < n / 4; k{by(count)})
	{{
		float4 x4 = ((const float4 *) x)[k];{parts}
		((float4 *) out)[k] = x4;
	}}"""

    made = row_forms(formula.replace("@", "@x"), ("x", ), finish)
    yield arguments, single(parameters, *made.pop("rows_256"))
    del made["wrong_launch"]
    for form, some in row_forms(formula.replace("@", "@x"), ("x", ), finish_vectors).items():
        if "vectors" in form and not form.startswith("wrong"):
            made[f"both_{form}"] = some
    grid, b, good = made["warps_256"]
    made["wrong_broadcast"] = (grid, b, good.replace("xor", "down"))
    made["wrong_mean"] = (grid, b, good.replace(mean, ""))
    grid, b, good = made["blocks_256"]
    made["wrong_part"] = (grid, b, good.replace("part[k]", "part[0]"))
    for form, some in made.items():
        yield form, single(parameters, *some)


def columns(formula, step="@ += #", atomic=True, rows=1024, columns=2016):
    """out[j] over the rows of column j; step joins the sum @ with the element #."""
    parameters = "const float *x, float *out, int rows, int columns"
    arguments = [argument("x", [rows, columns]), argument("out", [columns], "out"),
                 scalar("rows", rows), scalar("columns", columns)]

    def join(total, value):
        return step.replace("@", total).replace("#", value)

    def element(i):
        return formula.replace("@", f"x[{i} * columns + j]")

    def own(first="0", move="++", guard=""):
        return f"""
	float s = 0;
	for (int i = {first}; {guard}i < rows; i{move})
		{join('s', element('i'))};"""

    def whole(grid, block, body, *before, j=THREAD):
        return single(parameters, grid, block, f"\n\tint j = {j};{body}", *before)

    guard = "\n\tif (j >= columns)\n\t\treturn;"
    plain = f"{guard}{own()}\n\tout[j] = s;"
    yield arguments, whole(up("columns", 256), 256, plain)
    for b in (16, 32, 64, 128, 512, 1024):
        yield f"columns_{b}", whole(up("columns", b), b, plain)
    for k in (2, 4, 8, 16):
        adds = each("\t\t@;", *(join(f"s[{u}]", element(f"(i + {u})" if u else "i"))
                                for u in range(k)))
        for b in (32, 64, 128):
            yield f"sums_{k}_{b}", whole(up("columns", b), b, f"""{guard}
	float s[{k}] = {{0}};
	for (int i = 0; i < rows; i += {k})
	{{{adds}
	}}
	for (int k = 1; k < {k}; k++)
		{join('s[0]', 's[k]')};
	out[j] = s[0];""")
    adds = each("\t\t@;", *(join(f"s.{c}", formula.replace("@", f"v.{c}")) for c in "xyzw"))
    for b in (32, 64, 128, 256):
        yield f"vectors_{b}", whole(up("columns / 4", b), b, f"""
	if (j >= columns / 4)
		return;
	float4 s = make_float4(0, 0, 0, 0);
	for (int i = 0; i < rows; i++)
	{{
		float4 v = ((const float4 *) x)[i * (columns / 4) + j];{adds}
	}}
	((float4 *) out)[j] = s;""")

    def tile(x, y, end):
        """y threads share a column, and x columns a block."""
        return whole(up("columns", x), f"dim3({x}, {y})", f"""
	__shared__ float part[{y}][{x}];{own('threadIdx.y', ' += blockDim.y', 'j < columns && ')}
	part[threadIdx.y][threadIdx.x] = s;
	__syncthreads();{end}""")

    halves = f"""
	for (int o = blockDim.y / 2; o > 0; o /= 2)
	{{
		if (threadIdx.y < o)
			{join('part[threadIdx.y][threadIdx.x]', 'part[threadIdx.y + o][threadIdx.x]')};
		__syncthreads();
	}}
	if (threadIdx.y == 0 && j < columns)
		out[j] = part[0][threadIdx.x];"""

    def first(y):
        return f"""
	if (threadIdx.y == 0 && j < columns)
	{{
		for (int k = 1; k < {y}; k++)
			{join('s', 'part[k][threadIdx.x]')};
		out[j] = s;
	}}"""

    for x, y in ((8, 32), (8, 64), (16, 8), (16, 16), (16, 32), (16, 64), (32, 4), (32, 8),
                 (32, 16), (32, 32), (64, 4), (64, 8), (64, 16), (128, 4), (128, 8)):
        yield f"tiles_{x}_{y}", tile(x, y, first(y))
        if y > 4 and x < 128:
            yield f"halves_{x}_{y}", tile(x, y, halves)
    for b in (64, 128, 256, 512):
        yield f"trees_{b}", whole("columns", b, f"""
	int t = threadIdx.x;
	__shared__ float part[{b}];{own('t', f' += {b}')}
	part[t] = s;
	__syncthreads();
	for (int o = {b // 2}; o > 0; o /= 2)
	{{
		if (t < o)
			{join('part[t]', 'part[t + o]')};
		__syncthreads();
	}}
	if (t == 0)
		out[j] = part[0];""", j="blockIdx.x")
    if atomic:
        clear = "cudaMemsetAsync(out, 0, columns * sizeof(float))"
        split = f"{guard}{own('blockIdx.y', ' += gridDim.y')}\n\tatomicAdd(out + j, s);"
        for b in (32, 64, 128, 256):
            for k in (4, 8, 16, 32, 64):
                grid = f"dim3({up('columns', b)}, {k})"
                yield f"splits_{k}_{b}", whole(grid, b, split, clear)
        yield "wrong_clear", whole(grid, b, split)
        yield "wrong_split", whole(grid, b, split.replace("= blockIdx.y", "= 0"), clear)
    good = tile(32, 8, first(8))
    yield "wrong_tile", tile(32, 8, first(4))
    yield "wrong_share", good.replace("i < rows", "i < rows / 8")
    yield "wrong_halves", tile(32, 8, halves.replace("o > 0", "o > 1"))
    yield "wrong_launch", whole("columns / 256", 256, plain)
    yield "wrong_order", whole(up("columns", 64), 64, plain.replace("i * columns + j",
                                                                    "j * rows + i"))
    yield "wrong_rows", whole(up("columns", 64), 64, plain.replace("i < rows", "i + 32 < rows"))


def products(a, b, n=512):
    """c[i][j] = sum over k of a times b, whose places depend on i, j and k."""
    inputs = ("a", "b") if b.startswith("b") else ("a", )
    parameters = "".join(f"const float *{i}, " for i in inputs) + "float *c, int n"
    arguments = [argument(i, [n, n]) for i in inputs] + [
        argument("c", [n, n], "out"), scalar("n", n)]

    def at(text, **places):
        return re.sub(r"\b[ijk]\b", lambda m: places.get(m[0], m[0]), text)

    def whole(x, y, body, grid=None):
        return single(parameters, grid or f"dim3(n / {x}, n / {y})", f"dim3({x}, {y})", body)

    across = f"""
	int j = {THREAD};
	int i = {THREAD.replace('.x', '.y')};"""
    down = f"""
	int i = {THREAD};
	int j = {THREAD.replace('.x', '.y')};"""
    own = f"""
	float s = 0;
	for (int k = 0; k < n; k++)
		s += {a} * {b};
	c[i * n + j] = s;"""
    yield arguments, whole(16, 16, down + own)
    for x, y in ((8, 8), (32, 2), (32, 8), (4, 32), (32, 32)):
        yield f"rows_{x}_{y}", whole(x, y, down + own)
    for x, y in ((8, 8), (8, 32), (16, 8), (16, 16), (16, 32), (32, 2), (32, 4), (32, 8), (32, 16),
                 (32, 32), (64, 1), (64, 2), (64, 4), (64, 8), (64, 16)):
        yield f"columns_{x}_{y}", whole(x, y, across + own)
    for t in BLOCKS[1:]:
        yield f"flat_{t}", single(parameters, f"n * n / {t}", t, f"""
	int p = {THREAD};
	int i = p / n;
	int j = p % n;{own}""")
    for r in (2, 4, 8):
        adds = each("\t\t@ * v;", *(f"s[{u}] += {at(a, i=f'(i + {u})' if u else 'i')}"
                                    for u in range(r)))
        for x, y in ((32, 2), (32, 4), (32, 8), (64, 2), (64, 4)):
            yield f"strips_{r}_{x}_{y}", whole(x, y, f"""
	int j = {THREAD};
	int i = blockIdx.y * {y * r} + threadIdx.y * {r};
	float s[{r}] = {{0}};
	for (int k = 0; k < n; k++)
	{{
		float v = {b};{adds}
	}}
	for (int k = 0; k < {r}; k++)
		c[(i + k) * n + j] = s[k];""", f"dim3(n / {x}, n / {y * r})")
    row = re.sub(r"^(.)\[(.*) \+ j\]", r"(\1 + \2)", b)
    for x, y in ((4, 32), (8, 8), (8, 16), (8, 32), (16, 4), (16, 8), (16, 16)):
        yield f"vectors_{x}_{y}", whole(x, y, f"""{across}
	float4 s = make_float4(0, 0, 0, 0);
	for (int k = 0; k < n; k++)
	{{
		float u = {a};
		float4 v = ((const float4 *) {row})[j];{each('		s.@ += u * v.@;', *'xyzw')}
	}}
	((float4 *) (c + i * n))[j] = s;""", f"dim3(n / {4 * x}, n / {y})")

    def tiles(t, r, unroll=""):
        """Tiles of t x t in shared memory; a thread has r results, t / r rows apart."""
        apart = t // r
        rest = [f" + {q * apart}" if q else "" for q in range(r)]
        loop = f"\n\t\tfor (int r = 0; r < {t}; r += {apart})" if r > 1 else ""
        y, tab = ("y + r", "\t") if r > 1 else ("y", "")
        adds = each("\t\t\t@ * v[k][x];", *(f"s[{q}] += u[y{p}][k]" for q, p in enumerate(rest)))
        ends = each("\t@;", *(f"c[{f'(i{p})' if p else 'i'} * n + j] = s[{q}]"
                              for q, p in enumerate(rest)))
        return whole(t, apart, f"""
	__shared__ float u[{t}][{t}], v[{t}][{t}];
	int x = threadIdx.x, y = threadIdx.y;
	int j = blockIdx.x * {t} + x, i = blockIdx.y * {t} + y;
	float s[{r}] = {{0}};
	for (int m = 0; m < n; m += {t})
	{{{loop}
		{'{' if r > 1 else ''}
		{tab}u[{y}][x] = {at(a, k='(m + x)', i='(i + r)' if r > 1 else 'i')};
		{tab}v[{y}][x] = {at(b, k=f'(m + {y})')};
		{'}' if r > 1 else ''}
		__syncthreads();{unroll}
		for (int k = 0; k < {t}; k++)
		{{{adds}
		}}
		__syncthreads();
	}}{ends}""".replace("\n\t\t\n", "\n"), f"dim3(n / {t}, n / {t})")

    for t, some in ((8, (1, 2, 4)), (16, (1, 2, 4, 8)), (32, (1, 2, 4, 8, 16)), (64, (4, 8, 16))):
        for r in some:
            yield f"tiles_{t}_{r}", tiles(t, r)
            yield f"unrolled_{t}_{r}", tiles(t, r, "\n#pragma unroll")
    good = tiles(16, 1)
    yield "wrong_tile", good.replace("(m + x)", "x").replace("(m + y)", "y")
    yield "wrong_swap", good.replace("u[y][k] * v[k][x]", "u[k][y] * v[x][k]")
    yield "wrong_last", good.replace("m < n", "m + 16 < n")
    yield "wrong_start", good.replace("c[i * n + j] =", "c[i * n + j] +=")
    yield "wrong_half", whole(16, 16, (across + own).replace("k < n", "k < n / 2"))
    yield "wrong_grid", whole(16, 16, across + own, "dim3(n / 32, n / 32)")
    yield "wrong_steps", whole(32, 8, (across + own).replace("k++", "k += 2"))
    if len(inputs) == 2:
        yield "wrong_order", whole(16, 16, (across + own).replace("c[i * n + j]", "c[j * n + i]"))


def windows(formula, n=1048576, w=256):
    """out[i] = sum of formula over the w numbers from i on, where w is 256."""
    parameters = "const float *x, float *out, int n, int w"
    arguments = [argument("x", [n + w]), argument("out", [n], "out"), scalar("n", n),
                 scalar("w", w)]

    def at(place):
        return formula.replace("@", place)

    def whole(k, b, body, grid=None):
        """Blocks of b threads with k results each."""
        return single(parameters, grid or up("n", b * k), b, body)

    start = f"""
	int i = {THREAD};
	if (i >= n)
		return;"""
    plain = f"""{start}
	float s = 0;
	for (int k = 0; k < w; k++)
		s += {at('x[i + k]')};
	out[i] = s;"""
    yield arguments, whole(1, 256, plain)
    for b in (32, 64, 128, 512, 1024):
        yield f"width_{b}", whole(1, b, plain)
    for b in (64, 128, 256):
        for k in (2, 4, 8):
            adds = each("\t\t@;", *(f"s[{u}] += {at(f'x[i + k + {u}]' if u else 'x[i + k]')}"
                                    for u in range(k)))
            yield f"sums_{k}_{b}", whole(1, b, f"""{start}
	float s[{k}] = {{0}};
	for (int k = 0; k < w; k += {k})
	{{{adds}
	}}
	out[i] = {' + '.join(f's[{u}]' for u in range(k))};""")

    def shared(b, put, got, halo=" + w"):
        return whole(1, b, f"""
	__shared__ float t[{b + 256}];
	int i = {THREAD};
	for (int k = threadIdx.x; k < {b}{halo}; k += {b})
		t[k] = {put(f'x[blockIdx.x * {b} + k]')};
	__syncthreads();
	float s = 0;
	for (int k = 0; k < w; k++)
		s += {got('t[threadIdx.x + k]')};
	out[i] = s;""")

    for b in BLOCKS:
        yield f"shared_{b}", shared(b, str, at)
        if formula != "@":
            yield f"prepared_{b}", shared(b, at, str)

    # a sum that large numbers have left must not have lost digits to them
    def slide(k, b, keep="\n\t\tout[i + k] = s;", after="", first=None):
        return whole(k, b, f"""{start.replace(THREAD, first or f'{k} * ({THREAD})')}
	double s = 0;
	for (int k = 0; k < w; k++)
		s += {at('x[i + k]')};
	for (int k = 0; k < {k}; k++)
	{{{keep}
		s += {at('x[i + k + w]')};
		s -= {at('x[i + k]')};{after}
	}}""")

    for k in (2, 4, 8, 16, 32, 64):
        for b in (32, 64, 128, 256):
            yield f"slide_{k}_{b}", slide(k, b)
    for k in (2, 4, 8, 16, 32):
        for b in (32, 64, 128):
            yield f"slide_shared_{k}_{b}", whole(k, b, f"""
	__shared__ float t[{k * b + 256}];
	int first = blockIdx.x * {k * b}, i = threadIdx.x * {k};
	for (int k = threadIdx.x; k < {k * b} + w; k += {b})
		t[k] = {at('x[first + k]')};
	__syncthreads();
	double s = 0;
	for (int k = 0; k < w; k++)
		s += t[i + k];
	for (int k = 0; k < {k}; k++)
	{{
		out[first + i + k] = s;
		s += t[i + k + w];
		s -= t[i + k];
	}}""")
    yield "wrong_slide", slide(16, 128, "", "\n\t\tout[i + k] = s;")
    yield "wrong_first", slide(8, 128, first=THREAD)
    yield "wrong_strip", slide(16, 64).replace("k < 16", "k < 8")
    yield "wrong_halo", shared(256, str, at, "")
    yield "wrong_more", whole(1, 128, plain.replace("k < w", "k <= w"))
    yield "wrong_less", whole(1, 128, plain.replace("k = 0", "k = 1"))
    yield "wrong_launch", whole(1, 128, plain, "n / 256")


def chains(*steps, n=4000004):
    """out[i] = the steps on x[i], one after the other; @ is what came before."""
    parameters = "const float *x, float *out, int n"
    arguments = [argument("x", [n]), argument("out", [n], "out"), scalar("n", n)]

    def work(some, tabs="\n\t"):
        return "".join(f"{tabs}s = {t.replace('@', 's')};" for t in some)

    def start(n="n"):
        return f"\n\tint i = {THREAD};\n\tif (i >= {n})\n\t\treturn;"

    def launches(b, *groups):
        kernels, calls = "", []
        for number, some in enumerate(groups):
            kernels += kernel(f"step{number + 1}", parameters, f"""{start()}
	float s = {'out' if number else 'x'}[i];{work(some)}
	out[i] = s;""")
            calls.append((f"step{number + 1}", up("n", b), b))
        return solve(parameters, kernels, *calls)

    def fused(some=steps):
        return f"{start()}\n\tfloat s = x[i];{work(some)}\n\tout[i] = s;"

    def loop(first, condition, step, inner):
        return f"""
	for (int i = {first}; {condition}; i{step})
	{{{inner}
	}}"""

    yield arguments, launches(256, *([t] for t in steps))
    half = len(steps) // 2
    for b in BLOCKS[1:]:
        if b != 256:
            yield f"steps_{b}", launches(b, *([t] for t in steps))
        yield f"pairs_{b}", launches(b, steps[:half], steps[half:])
        yield f"fused_{b}", single(parameters, up("n", b), b, fused())
    tabs = "\n\t\t"
    inner = f"{tabs}float s = x[i];{work(steps, tabs)}{tabs}out[i] = s;"
    stride = " += gridDim.x * blockDim.x"
    for b in (128, 256, 512):
        for g in (132, 264, 528, 1056, 2112):
            yield f"stride_{g}_{b}", single(parameters, g, b, loop(THREAD, "i < n", stride, inner))
        for k in (2, 4, 8):
            for form, first, many, step in (
                    ("apart", f"blockIdx.x * {b * k} + threadIdx.x", b * k, f" += {b}"),
                    ("adjacent", f"{k} * ({THREAD})", k, "++")):
                yield f"{form}_{k}_{b}", single(
                    parameters, up("n", b * k), b, f"\n\tint first = {first};"
                    + loop("first", f"i < n && i < first + {many}", step, inner))
    function = f"__device__ float f(float s)\n{{{work(steps)}\n\treturn s;\n}}\n\n"

    def vectors(parts, tabs):
        size = f"float{4 if 'z' in parts else 2}"
        return (f"{tabs}{size} v = (({size} *) x)[i];" + each(f"{tabs[1:]}v.@ = f(v.@);", *parts)
                + f"{tabs}(({size} *) out)[i] = v;")

    for parts in ("xy", "xyzw"):
        size = len(parts)
        for b in BLOCKS[1:]:
            yield f"vectors_{size}_{b}", function + single(
                parameters, up(f"n / {size}", b), b, start(f"n / {size}") + vectors(parts, "\n\t"))
        for b in (128, 256, 512):
            for g in (132, 264, 528, 1056):
                yield f"vector_stride_{size}_{g}_{b}", function + single(
                    parameters, g, b, loop(THREAD, f"i < n / {size}", stride,
                                           vectors(parts, "\n\t\t")))
    yield "wrong_launch", single(parameters, "n / 256", 256, fused())
    yield "wrong_quarter", single(parameters, up("n / 4", 256), 256, fused())
    yield "wrong_components", function + single(parameters, up("n / 4", 256), 256,
                                                start("n / 4") + vectors("xyz", "\n\t"))
    yield "wrong_input", launches(256, *([t] for t in steps)).replace("s = out[i]", "s = x[i]")
    for number in range(len(steps)):
        yield f"wrong_without_{number + 1}", single(
            parameters, up("n", 256), 256, fused(steps[:number] + steps[number + 1:]))


def transposed(result, n=2048):
    """out[j][i] = result of @, which is a[i][j], and of #, which is a[j][i]."""
    parameters = "const float *a, float *out, int n"
    arguments = [argument("a", [n, n]), argument("out", [n, n], "out"), scalar("n", n)]

    def value(here, there):
        return result.replace("@", here).replace("#", there)

    def whole(x, y, body, grid=None):
        return single(parameters, grid or f"dim3(n / {x}, n / {y})", f"dim3({x}, {y})", body)

    move = f"\n\tout[j * n + i] = {value('a[i * n + j]', 'a[j * n + i]')};"
    reads, writes = (f"\n\tint {first} = {THREAD};\n\tint {second} = {THREAD.replace('.x', '.y')};"
                     f"{move}" for first, second in ("ji", "ij"))
    yield arguments, whole(16, 16, reads)
    for x, y in ((8, 8), (8, 32), (16, 8), (32, 2), (32, 4), (32, 8), (32, 16), (32, 32), (64, 4),
                 (128, 2), (256, 1)):
        yield f"reads_{x}_{y}", whole(x, y, reads)
        yield f"writes_{x}_{y}", whole(x, y, writes)

    def tiles(t, r, pad=1):
        loop = f"\n\tfor (int r = 0; r < {t}; r += {t // r})" if r > 1 else ""
        y, tab = ("y + r", "\t") if r > 1 else ("y", "")
        here = f"(jj + {y}) * n + ii + x"
        return whole(t, t // r, f"""
	__shared__ float tile[{t}][{t + pad}];
	int x = threadIdx.x, y = threadIdx.y;
	int jj = blockIdx.x * {t}, ii = blockIdx.y * {t};{loop}
	{tab}tile[{y}][x] = a[(ii + {y}) * n + jj + x];
	__syncthreads();{loop}
	{tab}out[{here}] = {value(f'tile[x][{y}]', f'a[{here}]')};""", f"dim3(n / {t}, n / {t})")

    for t, some in ((8, (1, 2)), (16, (1, 2, 4)), (32, (1, 2, 4, 8, 16)), (64, (4, 8, 16))):
        for r in some:
            yield f"tiles_{t}_{r}", tiles(t, r)
            yield f"plain_tiles_{t}_{r}", tiles(t, r, 0)
    for u in (2, 4, 8):
        text = ""
        for k in range(u):
            i = f"(i + {k})" if k else "i"
            text += f"\n\tout[j * n + {i}] = {value(f'a[{i} * n + j]', f'a[j * n + {i}]')};"
        for b in (64, 128, 256):
            yield f"strips_{u}_{b}", single(parameters, f"dim3(n / {b}, n / {u})", b, f"""
	int j = {THREAD};
	int i = blockIdx.y * {u};{text}""")
    good = tiles(32, 4)
    yield "wrong_tile", good.replace("tile[x][y + r]", "tile[y + r][x]")
    yield "wrong_block", good.replace("out[(jj + y + r) * n + ii + x]",
                                      "out[(ii + y + r) * n + jj + x]")
    yield "wrong_rows", good.replace("r < 32", "r < 24")
    yield "wrong_grid", whole(16, 16, reads, "dim3(n / 32, n / 32)")
    yield "wrong_order", whole(16, 16, reads.replace("out[j * n + i]", "out[i * n + j]"))


MAX = "@ = fmaxf(@, #)"
TASKS = {
    "cuda_square_sum": (reductions, "@x * @x"),
    "cuda_relu_sum": (reductions, "fmaxf(@x, 0.0f)"),
    "cuda_squared_distance": (reductions, "(@x - @y) * (@x - @y)", True),
    "cuda_l1_distance": (reductions, "fabsf(@x - @y)", True),
    "cuda_column_sums": (columns, "@"),
    "cuda_column_squares": (columns, "@ * @"),
    "cuda_column_max": (columns, "@", MAX, False),
    "cuda_column_abs": (columns, "fabsf(@)"),
    "cuda_matmul": (products, "a[i * n + k]", "b[k * n + j]"),
    "cuda_matmul_at": (products, "a[k * n + i]", "b[k * n + j]"),
    "cuda_matmul_shifted": (products, "(a[i * n + k] + 1)", "b[k * n + j]"),
    "cuda_gram": (products, "a[k * n + i]", "a[k * n + j]"),
    "cuda_box_sum": (windows, "@"),
    "cuda_box_squares": (windows, "@ * @"),
    "cuda_box_abs": (windows, "fabsf(@)"),
    "cuda_centre_rows": (rows, "@", "@ - #"),
    "cuda_row_shares": (rows, "fabsf(@)", "@ / #"),
    "cuda_rms_rows": (rows, "@ * @", "@ * rsqrtf(#)"),
    "cuda_affine_relu": (chains, "@ * 3", "@ + 0.5f", "fmaxf(@, 0.0f)", "@ * @"),
    "cuda_polynomial": (chains, "@ * 2", "@ * @", "@ + @ * @", "@ * 0.25f", "@ - 1"),
    "cuda_soft_sign": (chains, "@ * 4", "@ / (1 + fabsf(@))", "@ + 1", "@ * @"),
    "cuda_clip": (chains, "@ * 3", "fminf(@, 2.0f)", "fmaxf(@, -1.0f)", "@ + 2", "@ * @"),
    "cuda_transpose": (transposed, "@"),
    "cuda_add_transposed": (transposed, "@ + 0.5f * #")}

# Words of an answer for each form: why the reference is slow, and what is done about it.
APART = "Threads of a warp read numbers that lie apart."
WORDS = {
    "rows": (APART, "The same with another shape of blocks."),
    "vectors": ("Each number is a load of its own.", "Four numbers are one load."),
    "both": ("Each number is a load and a store of its own.", "Four numbers are one."),
    "parts": ("A thread reads a row on its own.", "Some threads share a row."),
    "part": ("A thread reads a row on its own.", "Some threads share a row, by fours."),
    "warps": (APART, "A warp reads a row as it lies, and adds up by shuffles."),
    "warp": (APART, "A warp reads a row by fours, and adds up by shuffles."),
    "trees": (APART, "A block shares the work, and adds up in shared memory."),
    "tree": (APART, "A block reads by fours, and adds up in shared memory."),
    "blocks": (APART, "A block shares a row; its warps add up by shuffles."),
    "block": (APART, "A block reads a row by fours; its warps add up by shuffles."),
    "atomics": (APART, "A block shares a row; its warps add to the result."),
    "columns": (APART, "Neighbours read neighbours, in blocks of another size."),
    "sums": ("Each addition waits for the one before it.", "Several independent sums."),
    "tiles": ("Numbers are read again and again from far memory.",
              "A block works in shared memory."),
    "plain": (APART, "A tile in shared memory, read and written as it lies."),
    "halves": ("A thread has a whole column.", "A block shares columns, and adds up by halves."),
    "splits": ("A thread has a whole column.", "Blocks share a column, and add to the result."),
    "flat": (APART, "Neighbouring threads have neighbouring results."),
    "strips": ("What a thread has loaded is used once.", "A thread keeps several in registers."),
    "unrolled": ("The same numbers are read again from far memory.",
                 "Tiles in shared memory, and loops unrolled."),
    "width": ("Blocks are of one size.", "Blocks of another size."),
    "shared": ("Neighbours read the same numbers.", "A block keeps them in shared memory."),
    "prepared": ("Neighbours compute the same.", "A block computes it once, in shared memory."),
    "slide": ("Neighbours add up almost the same.", "The window slides in registers."),
    "steps": ("Each step is a launch.", "The same with another size of blocks."),
    "pairs": ("Each step is a launch.", "Two launches."),
    "fused": ("Each step is a launch.", "One launch; numbers stay in registers."),
    "stride": ("Each step is a launch.", "One launch of few blocks that stride."),
    "apart": ("Each step is a launch.", "One launch; a thread has several numbers."),
    "adjacent": ("Each step is a launch.", "One launch; a thread has neighbours."),
    "vector": ("Each step is a launch.", "One launch of few blocks, by vectors."),
    "reads": ("One side is read or written apart.", "The same with another shape of blocks."),
    "writes": ("Writes lie apart.", "Writes are as memory lies."), }
