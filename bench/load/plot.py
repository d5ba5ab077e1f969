"""Cost against size: the rows of bench/database (number, what, median | low | high, by tabs) as an SVG, both axes logarithmic."""
import math
import sys

WIDTH, HEIGHT, LEFT, TOP, BOTTOM, LEGEND = 640, 420, 70, 40, 50, 420
COLOURS = ["#1b6ca8", "#c0392b", "#27813b", "#8e44ad", "#b9770e", "#16857a", "#555555", "#d35488", "#6b4f2a", "#2c3e9e"]


def read(path):
    series = {}
    for line in open(path):
        size, what, values = line.rstrip("\n").split("\t")
        numbers = [float(x) for x in values.split("|") if x.strip()]
        if len(numbers) == 3 and min(numbers) > 0 and not what.startswith("from commit"):
            series.setdefault(what.endswith(" ms"), {}).setdefault(what, []).append((int(size), *numbers))
    return series


def chart(series, title, left):
    sizes = [p[0] for points in series.values() for p in points]
    values = [v for points in series.values() for p in points for v in p[1:]]
    x0, x1 = math.log10(min(sizes)), math.log10(max(sizes))
    y0, y1 = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def x(size):
        return left + LEFT + (math.log10(size) - x0) / max(x1 - x0, 1e-9) * (WIDTH - LEFT - 20)

    def y(value):
        return HEIGHT - BOTTOM - (math.log10(value) - y0) / max(y1 - y0, 1e-9) * (HEIGHT - TOP - BOTTOM)

    out = [f'<text x="{left + LEFT}" y="20" font-weight="bold">{title}</text>']
    for exponent in range(y0, y1 + 1):
        at = y(10.0 ** exponent)
        out.append(f'<path d="M{left + LEFT} {at:.1f}H{left + WIDTH - 20}" stroke="#ddd"/>'
                   f'<text x="{left + LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0 ** exponent:g}</text>')
    for size in sorted(set(sizes)):
        out.append(f'<text x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{size:,}</text>')
    out.append(f'<text x="{left + (LEFT + WIDTH) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">candidates</text>')
    for number, (what, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        dash = ' stroke-dasharray="5 3"' if number >= len(COLOURS) else ""
        line = "L".join(f"{x(p[0]):.1f} {y(p[1]):.1f}" for p in points)
        out.append(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="1.5"{dash}/>')
        for p in points:
            out.append(f'<path d="M{x(p[0]):.1f} {y(p[2]):.1f}V{y(p[3]):.1f}" stroke="{colour}"/>'
                       f'<circle cx="{x(p[0]):.1f}" cy="{y(p[1]):.1f}" r="2.5" fill="{colour}"/>')
        at = TOP + 16 * number
        out.append(f'<path d="M{left + WIDTH} {at - 4}h20" stroke="{colour}" stroke-width="2"{dash}/>'
                   f'<text x="{left + WIDTH + 26}" y="{at}">{what}</text>')
    return "\n".join(out), max(HEIGHT, TOP + 16 * len(series) + 10)


def main():
    series = read(sys.argv[1])
    if not series:
        sys.exit("no row has a spread")
    parts, height = [], 0
    for number, timed in enumerate(sorted(series, reverse=True)):
        part, tall = chart(series[timed], "milliseconds in the server" if timed else "per second", number * (WIDTH + LEGEND))
        parts.append(part)
        height = max(height, tall)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{len(parts) * (WIDTH + LEGEND)}" height="{height}" '
          'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>')
    print("\n".join(parts) + "\n</svg>")


if __name__ == "__main__":
    main()
