"""Results for the tables of the paper, and what the tables must then hold, computed from the results alone.

  tables.py make FILE    writes SQL that adds tasks and imports results
  tables.py NAME FILE    compares a report's rows (psql -A -t) with the computation; ends 1 with what differs
"""
import math
import random
import sys

LEVELS = {i: 1 if i <= 20 else 2 if i <= 40 else 3 if i <= 50 else None for i in range(1, 53)}
WEAK = {3, 33}
METHODS = ("vanilla", "evolve", "grpo")
DEVICES = ("A100", "H100", "L40")


def rounded(x):
    """Towards 1, two decimals; what is on a hundredth stays."""
    if abs(x * 100 - round(x * 100)) < 1e-9:
        return round(x * 100) / 100
    return math.floor(x * 100) / 100 if x >= 1 else math.ceil(x * 100) / 100


def results():
    """(task, method, device) -> speedup as it was measured, 0 where it failed; a code is the same on all devices."""
    r = random.Random(20240607)
    out = {}
    for task in LEVELS:
        for m, method in enumerate(METHODS):
            for d, device in enumerate(DEVICES):
                fails = r.random() < (0.3, 0.1, 0.03)[m]
                x = math.exp(r.gauss(0.1 * m, 0.4 + 0.5 * m) + 0.05 * d)
                # some on a hundredth and some not
                x = rounded(x) if r.random() < 0.3 else x
                if m < 2 and d > 0:
                    continue
                out[task, method, device] = 0 if fails else x
            if task == 7:
                out[task, method, "A100"] = 1.0
    return out


def make(path):
    with open(path, "w", encoding="utf-8") as f:
        for task, level in LEVELS.items():
            f.write(f"SELECT cudal1_add_task('t{task}', 'class Model: pass', 'pytorch', NULL, {level or 'NULL'},"
                    f" '{{\"problem\": {task}, \"device\": \"cuda\"}}');\n")
        for task in sorted(WEAK):
            f.write(f"UPDATE cudal1.task SET certified = 'weak' WHERE name = 't{task}';\n")
        for device in DEVICES:
            for (task, method, d), x in results().items():
                if d == device:
                    f.write(f"SELECT cudal1_import_result('t{task}', '{method} {task}', {x or 'NULL'}, '{method}', '{device}');\n")


def best(method=None, device=None, show=rounded):
    """Task -> best speedup or None, chosen by what is rounded. Without a device a code counts with its first import."""
    out = {task: None for task in LEVELS}
    first = {}
    for device_now in DEVICES:
        for (task, m, d), x in results().items():
            if d == device_now and method in (None, m):
                if device is None:
                    first.setdefault((task, m), x)
                elif d == device:
                    first[task, m] = x
    for (task, _), x in first.items():
        if x and (out[task] is None or rounded(x) > rounded(out[task])):
            out[task] = x
    return {task: None if x is None else show(x) for task, x in out.items()}


def percentile(v, p):
    v = sorted(v)
    at = (len(v) - 1) * p
    low = math.floor(at)
    high = min(low + 1, len(v) - 1)
    return v[low] + (v[high] - v[low]) * (at - low)


def label(task):
    return "none" if LEVELS[task] is None else str(LEVELS[task])


def table(name, found, missing="zero", weak=True, faster_than=1, show=rounded):
    rows = []
    for level in ("1", "2", "3", "none", "All"):
        chosen = {t: x for t, x in found.items() if level in ("All", label(t)) and (weak or t not in WEAK)}
        x = [v for v in chosen.values() if v is not None]
        lost = len(chosen) - len(x)
        counted = x + {"zero": [0] * lost, "one": [1] * lost, "drop": []}[missing]
        cut = math.floor(len(counted) * 0.1)
        inner = sorted(counted)[cut:len(counted) - cut]
        words = {"zero": "counted as 0", "one": "counted as 1.00", "drop": "left out"}[missing]
        geometric = 0 if min(counted) == 0 else math.exp(sum(map(math.log, counted)) / len(counted))
        quartiles = [show(percentile(counted, p)) for p in (0.75, 0.5, 0.25)]
        rows.append([name, level, len(counted), show(sum(counted) / len(counted)), max(counted), *quartiles, len(x),
                     sum(v > faster_than for v in x), show(geometric), show(sum(inner) / len(inner)),
                     f"{lost} unsolved, {words}", 0, sum(t in WEAK for t in chosen)])
    return rows


def t_quantile(p, df):
    """By bisection on Simpson's rule over the density."""
    def cdf(x):
        c = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
        n = 4000
        h = x / n
        total = sum((1 if i in (0, n) else 4 if i % 2 else 2) * c * (1 + (i * h) ** 2 / df) ** (-(df + 1) / 2) for i in range(n + 1))
        return 0.5 + total * h / 3
    low, high = 0.0, 200.0
    for _ in range(60):
        mid = (low + high) / 2
        low, high = (mid, high) if cdf(mid) < p else (low, mid)
    return low


def signed_rank(d):
    """Two-sided p, by the distribution of the rank sum as a dictionary."""
    d = [x for x in d if x != 0]
    sizes = sorted(abs(x) for x in d)
    ranks = []
    for x in d:
        near = [i + 1 for i, s in enumerate(sizes) if s == abs(x) or abs(s - abs(x)) < 1e-12]
        ranks.append(sum(near) / len(near))
    seen = sum(r for r, x in zip(ranks, d) if x > 0)
    law = {0.0: 1.0}
    for r in ranks:
        new = {}
        for s, p in law.items():
            new[s] = new.get(s, 0) + p / 2
            new[s + r] = new.get(s + r, 0) + p / 2
        law = new
    return min(1, 2 * min(sum(p for s, p in law.items() if s <= seen), sum(p for s, p in law.items() if s >= seen)))


def compare(a, b, missing):
    rows = []
    for level in ("1", "2", "3", "none", "All"):
        pairs = [(a[t], b[t]) for t in LEVELS if level in ("All", label(t))]
        if missing == "drop":
            pairs = [p for p in pairs if None not in p]
        fill = 0 if missing == "zero" else 1
        pairs = [(fill if x is None else x, fill if y is None else y) for x, y in pairs]
        if not pairs:
            continue
        d = [0 if x == y else math.inf if y == 0 else -math.inf if x == 0 else math.log(x) - math.log(y) for x, y in pairs]
        n = len(d)
        wins, losses = sum(x > 0 for x in d), sum(x < 0 for x in d)
        sign = min(1, 2 * sum(math.comb(wins + losses, i) for i in range(min(wins, losses) + 1)) / 2 ** (wins + losses))
        row = [level, n, wins, losses]
        if any(map(math.isinf, d)):
            row += [None, None, None]
        elif n < 2:
            row += [math.exp(d[0]), None, None]
        else:
            mean = sum(d) / n
            half = t_quantile(0.975, n - 1) * math.sqrt(sum((x - mean) ** 2 for x in d) / (n - 1) / n)
            row += [math.exp(mean), math.exp(mean - half), math.exp(mean + half)]
        rows.append(row + [signed_rank(d), sign])
    return rows


def histogram(found):
    done = {t: math.floor(math.log(x) / 0.5) for t, x in found.items() if x}
    rows = []
    for level in ("1", "2", "3", "none", "All"):
        mine = [k for t, k in done.items() if level in ("All", label(t))]
        for k in range(min(done.values()), max(done.values()) + 1):
            rows.append([level, k / 2, k / 2 + 0.5, math.exp(k / 2), math.exp(k / 2 + 0.5), mine.count(k), mine.count(k) / len(mine)])
    return rows


def top(found):
    order = sorted(((-x, f"t{t}") for t, x in found.items() if x))
    return [[1 + sum(y < x for y, _ in order), name, -x] for x, name in order[:12]]


EXPECTED = {
    "levels": lambda: table("any", best()),
    "levels_one": lambda: table("any", best(), "one"),
    "levels_drop": lambda: table("any", best(), "drop"),
    "levels_unrounded": lambda: table("any", best(show=float), "one", faster_than=1.01, show=float),
    "devices_unrounded": lambda: [r for i in range(5) for d in sorted(DEVICES) for r in [table(d, best("grpo", d, float), show=float)[i]]],
    "without_weak": lambda: table("any", best(), weak=False),
    "methods": lambda: [r for i in range(5) for m in sorted(METHODS) for r in [table(m, best(m))[i]]],
    "devices": lambda: [r for i in range(5) for d in sorted(DEVICES) for r in [table(d, best("grpo", d))[i]]],
    "histogram": lambda: histogram(best()),
    "top": lambda: top(best()),
    "compare": lambda: compare(best("grpo"), best("evolve"), "one"),
    "compare_drop": lambda: compare(best("grpo"), best("evolve"), "drop"),
    "compare_zero": lambda: compare(best("grpo"), best("evolve"), "zero"),
    "compare_devices": lambda: compare(best("grpo", "A100"), best("grpo", "L40"), "one"),
}


def same(text, value):
    if value is None or isinstance(value, str):
        return text == (value or "")
    return text != "" and math.isclose(float(text), value, rel_tol=1e-8, abs_tol=1e-12)


def main():
    name, path = sys.argv[1:]
    if name == "make":
        return make(path)
    with open(path, encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("|") for line in f if line.strip()]
    wanted = EXPECTED[name]()
    if len(rows) != len(wanted):
        sys.exit(f"{len(rows)} rows, {len(wanted)} expected")
    for row, want in zip(rows, wanted):
        if len(row) != len(want) or not all(map(same, row, want)):
            sys.exit(f"found    {row}\nexpected {want}")


main()
