"""The families of tasks.py in C: plain loops on one core.

What makes a code fast is one of six ideas: independent sums, rows read as they lie, sums taken
once, windows that slide, tiles, and products in the order of rows.
"""

HELD_OUT = ("l1_distance", "column_abs", "gram", "box_abs", "rms_rows", "add_transposed")
SPELLINGS = 4  # of each form
WIDTHS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)


def argument(name, shape, role="in", **more):
    return dict({"name": name, "dtype": "float32", "shape": shape, "role": role},
                **({"init": "uniform", "low": -1, "high": 1} if role == "in" else {}), **more)


def scalar(name, value):
    return {"name": name, "dtype": "int32", "role": "scalar", "value": value}


def body(parameters, text):
    return f"void\nsolve({parameters})\n{{\n{text.strip(chr(10))}\n}}\n"


def dividing(n):
    return [k for k in WIDTHS if n % k == 0]


def reductions(formula, second=False, rows=128, width=203):
    """out[r] = sum of formula over row r. An addition waits for the last one, unless there are
    several sums.

    The rows are short, so that numbers left out of a sum are seen: of 30000, the last 3 would be
    within the tolerance.
    """
    inputs = ("x", "y") if second else ("x",)
    parameters = "".join(f"const float *{i}, " for i in inputs) + "float *out, int rows, int n"
    arguments = [argument(i, [rows, width]) for i in inputs] + [
        argument("out", [rows], "out"), scalar("rows", rows), scalar("n", width)]
    move = ", ".join(f"{i} += n" for i in inputs)

    def at(i):
        return formula.replace("@", i)

    def each_row(text):
        inner = "\n".join("\t" + line if line else line for line in text.strip("\n").split("\n"))
        return body(parameters, f"\tfor (int r = 0; r < rows; r++, {move})\n\t{{\n{inner}\n\t}}")

    yield arguments, each_row(f"""
	float s = 0;

	for (int i = 0; i < n; i++)
		s += {at('i')};
	out[r] = s;""")
    rest = f"""
	for (; i < n; i++)
		total += {at('i')};"""
    for k in WIDTHS:
        sums = f"""
	float s[{k}] = {{0}};
	float total = 0;
	int i = 0;

	for (; i + {k} <= n; i += {k})
		for (int k = 0; k < {k}; k++)
			s[k] += {at('i + k')};
	for (int k = 0; k < {k}; k++)
		total += s[k];{rest}
	out[r] = total;"""
        yield f"sums_{k}", each_row(sums)
        yield f"wrong_rest_{k}", each_row(sums.replace(rest, ""))
    yield "double", each_row(f"""
	double s = 0;

	for (int i = 0; i < n; i++)
		s += {at('i')};
	out[r] = s;""")
    yield "two", each_row(f"""
	float s = 0, s2 = 0;
	int i;

	for (i = 0; i + 1 < n; i += 2)
	{{
		s += {at('i')};
		s2 += {at('i + 1')};
	}}
	if (i < n)
		s += {at('i')};
	out[r] = s + s2;""")


def columns(formula, step="@ += #", rows=192, width=320):
    """out[j] over the rows of column j; step joins the sum @ with the element #. Columns lie
    apart, rows lie together."""
    parameters = "const float *x, float *out, int rows, int columns"
    arguments = [argument("x", [rows, width]), argument("out", [width], "out"),
                 scalar("rows", rows), scalar("columns", width)]

    def join(total, element):
        return step.replace("@", total).replace("#", formula.replace("@", element))

    clear = """
	for (int j = 0; j < columns; j++)
		out[j] = 0;"""
    whole = clear + f"""
	for (int s = 0; s < rows; s++)
		for (int j = 0; j < columns; j++)
			{join('out[j]', 'x[s * columns + j]')};"""
    yield arguments, body(parameters, f"""
	for (int j = 0; j < columns; j++)
	{{
		float s = 0;

		for (int i = 0; i < rows; i++)
			{join('s', 'x[i * columns + j]')};
		out[j] = s;
	}}""")
    yield "rows", body(parameters, whole)
    yield "wrong_start", body(parameters, whole.replace(clear, ""))
    for k in dividing(width):
        yield f"blocks_{k}", body(parameters, f"""
	for (int j = 0; j < columns; j += {k})
	{{
		float s[{k}] = {{0}};

		for (int i = 0; i < rows; i++)
			for (int k = 0; k < {k}; k++)
				{join('s[k]', 'x[i * columns + j + k]')};
		for (int k = 0; k < {k}; k++)
			out[j + k] = s[k];
	}}""")
    for k in (k for k in dividing(rows) if k <= 8):
        lines = "\n".join(f"\t\t\t{join('t', f'x[(s + {u}) * columns + j]')};" for u in range(k))
        yield f"unrolled_{k}", body(parameters, clear + f"""
	for (int s = 0; s < rows; s += {k})
		for (int j = 0; j < columns; j++)
		{{
			float t = out[j];

{lines}
			out[j] = t;
		}}""")


def products(a, b, n=96):
    """c[i][j] = sum over k of a times b, whose places depend on i, j and k."""
    inputs = ("a", "b") if b.startswith("b") else ("a",)
    parameters = "".join(f"const float *{i}, " for i in inputs) + "float *c, int n"
    arguments = [argument(i, [n, n]) for i in inputs] + [
        argument("c", [n, n], "out"), scalar("n", n)]
    clear = """
	for (int s = 0; s < n * n; s++)
		c[s] = 0;"""
    add = f"c[i * n + j] += {a} * {b};"
    yield arguments, body(parameters, f"""
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
		{{
			float s = 0;

			for (int k = 0; k < n; k++)
				s += {a} * {b};
			c[i * n + j] = s;
		}}""")
    for form, outer, inner in (("rows", "i", "k"), ("rows_outer", "k", "i")):
        yield form, body(parameters, clear + f"""
	for (int {outer} = 0; {outer} < n; {outer}++)
		for (int {inner} = 0; {inner} < n; {inner}++)
			for (int j = 0; j < n; j++)
				{add}""")
    for t in dividing(n):
        tiles = f"""
	for (int i = 0; i < n; i++)
		for (int jj = 0; jj < n; jj += {t})
		{{
			float s[{t}] = {{0}};

			for (int k = 0; k < n; k++)
				for (int j = jj; j < jj + {t}; j++)
					s[j - jj] += {a} * {b};
			for (int j = jj; j < jj + {t}; j++)
				c[i * n + j] = s[j - jj];
		}}"""
        yield f"tiles_{t}", body(parameters, tiles)
        yield f"wrong_tiles_{t}", body(parameters, tiles.replace(" = {0}", ""))
        yield f"steps_{t}", body(parameters, clear + f"""
	for (int kk = 0; kk < n; kk += {t})
		for (int i = 0; i < n; i++)
			for (int k = kk; k < kk + {t}; k++)
				for (int j = 0; j < n; j++)
					{add}""")


def windows(formula, n=4096, w=64):
    """out[i] = sum of formula over the w numbers from i on: n * w additions, or 2 * n where the
    window slides."""
    parameters = "const float *x, float *out, int n, int w"
    arguments = [argument("x", [n + w]), argument("out", [n], "out"), scalar("n", n),
                 scalar("w", w)]

    def at(i):
        return formula.replace("@", f"x[{i}]")

    yield arguments, body(parameters, f"""
	for (int i = 0; i < n; i++)
	{{
		float s = 0;

		for (int k = 0; k < w; k++)
			s += {at('i + k')};
		out[i] = s;
	}}""")
    for k in dividing(n):
        yield f"blocks_{k}", body(parameters, f"""
	for (int i = 0; i < n; i += {k})
	{{
		float s[{k}] = {{0}};

		for (int k = 0; k < w; k++)
			for (int j = 0; j < {k}; j++)
				s[j] += {at('i + j + k')};
		for (int j = 0; j < {k}; j++)
			out[i + j] = s[j];
	}}""")
    keep, move = "\t\t\tout[j] = s;\n", f"\t\t\ts += {at('j + w')} - {at('j')};\n"
    for m in (16, 32, 64, 128, 256, 512, 1024, 2048, 4096):
        slide = f"""
	for (int i = 0; i < n; i += {m})
	{{
		double s = 0;

		for (int k = 0; k < w; k++)
			s += {at('i + k')};
		for (int j = i; j < i + {m}; j++)
		{{
{keep}{move}		}}
	}}"""
        yield f"slide_{m}", body(parameters, slide)
        yield f"wrong_slide_{m}", body(parameters, slide.replace(keep + move, move + keep))


def rows(formula, result, rows=512, width=24):
    """y = result of x and t, the mean of formula over its row, which the reference takes anew for
    each element."""
    parameters = "const float *x, float *y, int rows, int columns"
    arguments = [argument("x", [rows, width]), argument("y", [rows, width], "out"),
                 scalar("rows", rows), scalar("columns", width)]

    def whole(text):
        return ("#include <math.h>\n\n" if "sqrtf" in result else "") + body(parameters, text)

    def each(i):
        return formula.replace("@", i)

    def final(i, t):
        return result.replace("@", i).replace("#", t)

    yield arguments, whole(f"""
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < columns; j++)
		{{
			float s = 0;

			for (int k = 0; k < columns; k++)
				s += {each('x[i * columns + k]')};
			y[i * columns + j] = {final('x[i * columns + j]', 's / columns')};
		}}""")
    yield "once", whole(f"""
	for (int i = 0; i < rows; i++)
	{{
		float s = 0;

		for (int k = 0; k < columns; k++)
			s += {each('x[i * columns + k]')};
		for (int j = 0; j < columns; j++)
			y[i * columns + j] = {final('x[i * columns + j]', 's / columns')};
	}}""")
    yield "wrong_whole", whole(f"""
	float s = 0;

	for (int k = 0; k < rows * columns; k++)
		s += {each('x[k]')};
	for (int j = 0; j < rows * columns; j++)
		y[j] = {final('x[j]', 's / (rows * columns)')};""")
    for k in dividing(width):
        yield f"sums_{k}", whole(f"""
	for (int i = 0; i < rows; i++)
	{{
		float s[{k}] = {{0}};
		float t = 0;

		for (int j = 0; j < columns; j += {k})
			for (int k = 0; k < {k}; k++)
				s[k] += {each('x[i * columns + j + k]')};
		for (int k = 0; k < {k}; k++)
			t += s[k];
		t = t / columns;
		for (int j = 0; j < columns; j++)
			y[i * columns + j] = {final('x[i * columns + j]', 't')};
	}}""")
        yield f"rows_{k}", whole(f"""
	for (int i = 0; i < rows; i++)
	{{
		const float *row = x + i * columns;
		float s = 0;

		for (int j = 0; j < columns; j += {k})
		{{
			float t = 0;

			for (int k = j; k < j + {k}; k++)
				t += {each('row[k]')};
			s += t;
		}}
		s = s / columns;
		for (int j = 0; j < columns; j++)
			y[i * columns + j] = {final('row[j]', 's')};
	}}""")


def transposed(result, n=256):
    """y[j][i] from x[i][j]: one of the two lies apart, unless tiles hold both in the cache."""
    parameters = "const float *x, float *y, int n"
    arguments = [argument("x", [n, n]), argument("y", [n, n], "out"), scalar("n", n)]
    for form, outer, inner in ((None, "i", "j"), ("other_order", "j", "i")):
        yield form or arguments, body(parameters, f"""
	for (int {outer} = 0; {outer} < n; {outer}++)
		for (int {inner} = 0; {inner} < n; {inner}++)
			y[j * n + i] = {result};""")
    for t in (2, 4, 8, 16, 32, 64):
        for u in (4, 8, 16, 32, 64):
            tiles = f"""
	for (int is = 0; is < n; is += {t})
		for (int js = 0; js < n; js += {u})
			for (int j = js; j < js + {u}; j++)
				for (int i = is; i < is + {t}; i++)
					y[j * n + i] = {result};"""
            yield f"tiles_{t}_{u}", body(parameters, tiles)
            wrong = tiles.replace(f"< js + {u}", f"< js + {min(t, u)}").replace(
                f"< is + {t}", f"< is + {min(t, u)}")
            if wrong != tiles:
                yield f"wrong_tiles_{t}_{u}", body(parameters, wrong)


def absolute(text):
    return f"({text} < 0 ? -{text} : {text})"


def positive(text):
    return f"({text} > 0 ? {text} : 0)"


TASKS = {
    "abs_sum": (reductions, absolute("x[@]")),
    "square_sum": (reductions, "x[@] * x[@]"),
    "relu_sum": (reductions, positive("x[@]")),
    "fourth_sum": (reductions, "x[@] * x[@] * x[@] * x[@]"),
    "squared_distance": (reductions, "(x[@] - y[@]) * (x[@] - y[@])", True),
    "l1_distance": (reductions, "(x[@] < y[@] ? y[@] - x[@] : x[@] - y[@])", True),
    "column_sums": (columns, "@"),
    "column_squares": (columns, "@ * @"),
    "column_relu": (columns, positive("@")),
    "column_max": (columns, "@", "@ = @ < # ? # : @"),
    "column_abs": (columns, absolute("@")),
    "matmul": (products, "a[i * n + k]", "b[k * n + j]"),
    "matmul_at": (products, "a[k * n + i]", "b[k * n + j]"),
    "matmul_shifted": (products, "(a[i * n + k] + 1)", "b[k * n + j]"),
    "gram": (products, "a[k * n + i]", "a[k * n + j]"),
    "box_sum": (windows, "@"),
    "box_squares": (windows, "@ * @"),
    "box_relu": (windows, positive("@")),
    "box_abs": (windows, absolute("@")),
    "centre_rows": (rows, "@", "@ - #"),
    "row_shares": (rows, absolute("@"), "@ / (#)"),
    "rms_rows": (rows, "@ * @", "@ / sqrtf(#)"),
    "transpose": (transposed, "x[i * n + j]"),
    "add_transposed": (transposed, "x[i * n + j] + x[j * n + i]")}

# Words of an answer for each form: why the reference is slow, and what is done about it.
WORDS = {
    "sums": ("Each addition waits for the one before it.",
             "Several independent sums, added up at the end."),
    "two": ("Each addition waits for the one before it.", "Two independent sums."),
    "double": ("The sum is rounded at each addition.", "A sum in double precision."),
    "rows": ("The inner loop does not read numbers as they lie.",
             "The inner loop goes along a row."),
    "unrolled": ("The inner loop jumps from row to row.", "Several rows are added in one go."),
    "blocks": ("Sums are taken one after the other.", "A block of sums is taken at once."),
    "tiles": ("The inner loop jumps from row to row.", "Tiles stay in registers or in the cache."),
    "steps": ("The inner loop jumps from row to row.", "Rows are added to rows, some at a time."),
    "slide": ("Neighbours add up almost the same numbers.",
              "The window slides: one number comes, one goes."),
    "once": ("The same sum is taken for each element.", "The sum is taken once for a row."),
    "other": ("One side is read or written apart.", "The other order of loops."), }
