"""One program database of one size: fills it, then times insertions and draws. Arguments: system, its checkout, programs, seconds at most for
filling, a scratch directory (cudal1's server is in the environment). Prints one row of a table."""
import math
import os
import random
import resource
import sys
import time
import types

SYSTEM, CHECKOUT, SIZE, BUDGET, SCRATCH = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
INSERTIONS, DRAWS, SECONDS = 200, 100, 30
LINES = [f"  acc{i % 4} += a[i * {i * 37 % 512} + {i * 101 % 97}] * w[{i * 7919 % 997}]" for i in range(4000)]


def program(n):
    """The n-th code, 2 to 8 kB of Python, and its score, most near 1, few far above."""
    noise = random.Random(n)
    first = noise.randrange(3800)
    body = "\n".join([f"  # {n}"] + LINES[first:first + 40 + n * 7919 % 120])
    return f"def solve(a, w):\n{body}\n  return acc0", round(2.718281828 ** (0.2 - 0.6 * math.log(noise.random() + 1e-9) - 0.5), 2), body


class FunSearch:
    def __init__(self):
        package = sys.modules["funsearch"] = types.ModuleType("funsearch")
        package.__path__ = [CHECKOUT]
        from funsearch.implementation import code_manipulation, config, programs_database
        self.function = code_manipulation.Function
        template = code_manipulation.text_to_program("import numpy as np\n\n\ndef solve(a, w):\n    return 0\n")
        self.database = programs_database.ProgramsDatabase(config.ProgramsDatabaseConfig(), template, "solve")
        for island in range(10):
            self.insert(10 ** 9 + island, island)()

    def insert(self, n, island=None):
        _, score, body = program(n)
        function = self.function("solve", "a, w", body + "\n  return acc0")
        return lambda: self.database.register_program(function, n % 10 if island is None else island, {"test": score})

    def draw(self):
        self.database.get_prompt()


class OpenEvolve:
    def __init__(self):
        # its database alone, without the clients of models that the package imports
        package = types.ModuleType("openevolve")
        package.__path__ = [os.path.join(CHECKOUT, "openevolve")]
        sys.modules["openevolve"] = package
        from openevolve.config import DatabaseConfig
        from openevolve.database import Program, ProgramDatabase
        self.program = Program
        self.database = ProgramDatabase(DatabaseConfig(population_size=10 ** 9, log_prompts=False))

    def insert(self, n):
        code, score, _ = program(n)
        added = self.program(id=str(n), code=code, metrics={"combined_score": score})
        return lambda: self.database.add(added, iteration=n, target_island=n % 5)

    def draw(self):
        self.database.sample(num_inspirations=2)


class ShinkaEvolve:
    def __init__(self):
        # no embeddings are asked for, so the clients of their providers are not needed
        for name in ("shinka", "shinka.embed"):
            sys.modules[name] = types.ModuleType(name)
        sys.modules["shinka"].__path__ = [os.path.join(CHECKOUT, "shinka")]
        sys.modules["shinka.embed"].EmbeddingClient = object
        import logging
        logging.disable(logging.WARNING)
        from shinka.database.dbase import DatabaseConfig, Program, ProgramDatabase
        self.program = Program
        self.path = os.path.join(SCRATCH, f"shinka-{SIZE}.sqlite")
        self.database = ProgramDatabase(DatabaseConfig(db_path=self.path, num_islands=2))
        # drawing a program, not a table on a terminal
        self.database._print_sampling_summary_helper = lambda *_: None

    def insert(self, n):
        code, score, _ = program(n)
        added = self.program(id=str(n), code=code, combined_score=score, correct=True, complexity=1.0, embedding=[0.0], generation=1 + n % 1000,
                             parent_id=str(n * 7919 % min(n, 200)) if n else None, metadata={})
        return lambda: (self.database.add(added), self.database.check_scheduled_operations())

    def fill(self, size, until):
        """The first by its own insertion, the rest as copies of these rows under new names, codes and scores."""
        n = 0
        while n < min(size, 200):
            self.insert(n)()
            n += 1
        self.database.conn.commit()
        columns = [row[1] for row in self.database.conn.execute("PRAGMA table_info(programs)")]
        chosen = ", ".join({"id": "?", "code": "?", "combined_score": "?", "in_archive": "0", "timestamp": "timestamp + ?"}.get(c, c) for c in columns)
        order = [c for c in columns if c in ("id", "code", "combined_score", "timestamp")]
        sql = f"INSERT INTO programs ({', '.join(columns)}) SELECT {chosen} FROM programs WHERE id = ?"
        while n < size and time.monotonic() < until:
            rows = []
            for n in range(n, min(n + 1000, size)):
                code, score, _ = program(n)
                values = {"id": str(n), "code": code, "combined_score": score, "timestamp": n}
                rows.append([values[c] for c in order] + [str(n % 200)])
            self.database.conn.executemany(sql, rows)
            self.database.conn.commit()
            n += 1
        return n

    def draw(self):
        self.database.sample()


class Cudal1:
    """A connection to the server; an insertion is an import of a code with its score, a transaction of its own, flushed."""
    def __init__(self):
        # the distribution's packages for another python3, whose own go first
        sys.path.append("/usr/lib/python3/dist-packages")
        from psycopg import pq
        self.done = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)
        self.connection = pq.PGconn.connect(b"dbname=postgres")
        self.ask("DROP DATABASE IF EXISTS peers")
        self.ask("CREATE DATABASE peers")
        self.connection = pq.PGconn.connect(b"dbname=peers")
        self.ask("CREATE EXTENSION cudal1")
        self.ask("SELECT cudal1_add_task('t', 'class Model: pass', 'pytorch')")

    def ask(self, query, *values):
        result = self.connection.exec_params(query.encode(), [str(v).encode() for v in values])
        if result.status not in self.done:
            raise RuntimeError(self.connection.error_message.decode())

    def insert(self, n):
        code, score, _ = program(n)
        return lambda: self.ask("SELECT cudal1_import_result('t', $1, $2, 'bench', 'peer')", code, score)

    def fill(self, size, until):
        """Rows as imports leave them, then the buckets; the insertions that are timed are its own."""
        for n in range(0, size, 1000):
            if time.monotonic() > until:
                return n
            self.ask("BEGIN")
            for m in range(n, min(n + 1000, size)):
                code, score, _ = program(m)
                self.ask("INSERT INTO cudal1.candidate (task_id, code, code_hash, state, reward, score, decided_at, import_device)"
                         " SELECT task_id, $1::text, cudal1.code_hash($1::text), 'successful', cudal1_conservative_round($2::float8), $2::float8, now(), 'peer'"
                         " FROM cudal1.task WHERE name = 't'", code, max(score, 0.01))
            self.ask("INSERT INTO cudal1.proposal (task_id, candidate_id, method) SELECT task_id, candidate_id, 'bench' FROM cudal1.candidate c"
                     " WHERE NOT EXISTS (SELECT FROM cudal1.proposal p WHERE p.candidate_id = c.candidate_id) AND candidate_id > $1", n - 10)
            self.ask("COMMIT")
        self.ask("SELECT bench.derive('t')")
        self.ask("ANALYZE")
        return size

    def draw(self):
        self.ask("SELECT * FROM cudal1_sample_exemplars('t', 2)")


def timed(actions, count):
    times, until = [], time.monotonic() + SECONDS
    for action in actions:
        began = time.perf_counter()
        action()
        times.append((time.perf_counter() - began) * 1e6)
        if len(times) >= count or (time.monotonic() > until and len(times) >= 3):
            break
    times.sort()
    return " | ".join(f"{times[min(int(len(times) * q), len(times) - 1)]:.0f}" for q in (0.5, 0.1, 0.9)) + f" ({len(times)})"


def main():
    sys.stdout = open(os.devnull, "w")
    database = {"funsearch": FunSearch, "openevolve": OpenEvolve, "shinkaevolve": ShinkaEvolve, "cudal1": Cudal1}[SYSTEM]()
    until = time.monotonic() + BUDGET
    if hasattr(database, "fill"):
        filled = database.fill(SIZE, until)
    else:
        filled = 0
        while filled < SIZE and time.monotonic() < until:
            database.insert(filled)()
            filled += 1
    if filled < SIZE:
        sys.stdout = sys.__stdout__
        print(f"| {SYSTEM:<12} | {SIZE:>10} | holds {filled} after {BUDGET:.0f} s of filling")
        return
    insertions = timed((database.insert(SIZE + n) for n in range(INSERTIONS)), INSERTIONS)
    draws = timed((database.draw for _ in range(DRAWS)), DRAWS)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
    if SYSTEM == "shinkaevolve":
        megabytes = sum(os.path.getsize(database.path + end) for end in ("", "-wal") if os.path.exists(database.path + end)) // 1000000
    sys.stdout = sys.__stdout__
    print(f"| {SYSTEM:<12} | {SIZE:>10} | {insertions:<36} | {draws:<36} | {'' if SYSTEM == 'cudal1' else megabytes} |", flush=True)


main()
