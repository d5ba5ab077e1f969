#!/usr/bin/env python3
"""For verl: a parquet file with a row for each task, and a data set that draws a row's prompt when
the row is read.

  prompts.py FILE.parquet [--tasks NAME,...] [--repeat N] [--pool POOL] [--strategy S] ...

The file alone is a data set, too, with prompts that were drawn when it was made.
"""
import argparse
import os
import sys

TRAIN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TRAIN)
from needs import need  # noqa: E402

need("psycopg")
from cudal1 import column, query  # noqa: E402


def drawn(task, how):
    """A prompt of the task as verl's rows hold it."""
    number, prompt, system = query(
        "SELECT prompt_id, prompt, system FROM cudal1_prompt(%s, %s, %s, kind => %s, pool => %s)",
        (task, max(1, how["exemplars"]), how["strategy"],
         "contrastive" if how["exemplars"] else "augment", how["pool"]))[0]
    messages = ([{"role": "system", "content": system}] if system else []) + [{
        "role": "user", "content": prompt}]
    return messages, {"prompt_id": number, "task": task, **how}


try:
    from verl.utils.dataset.rl_dataset import RLHFDataset
except ImportError:
    pass
else:

    class DrawnPrompts(RLHFDataset):
        """Rows whose prompt is drawn anew from the run's pool each time."""
        def _build_messages(self, example, key):
            given = example["extra_info"]
            messages, example["extra_info"] = drawn(
                given["task"], {k: given[k] for k in ("exemplars", "strategy", "pool")})
            return super()._build_messages({**example, key: messages}, key)


def main():
    need("pandas", "pyarrow")
    import pandas
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("file")
    p.add_argument("--tasks", type=lambda text: text.split(","), metavar="NAME,...",
                   help="default: all")
    p.add_argument("--repeat", type=int, default=1, help="rows for each task")
    p.add_argument("--pool", default="main", help="opened if it is new")
    p.add_argument("--strategy", default="bucket")
    p.add_argument("--exemplars", type=int, default=2, help="0: GRPO without comparison")
    a = p.parse_args()
    if a.pool != "main":
        query("SELECT cudal1_open_pool(%s)", (a.pool,))
    tasks = a.tasks or column(
        "SELECT name FROM cudal1.task WHERE retired_at IS NULL ORDER BY task_id")
    rows = []
    for task in tasks * a.repeat:
        messages, extra = drawn(task,
                                {"exemplars": a.exemplars, "strategy": a.strategy, "pool": a.pool})
        rows.append({
            "data_source": "cudal1", "prompt": messages, "ability": "code", "extra_info": extra,
            "reward_model": {"style": "rule", "ground_truth": ""}})
    pandas.DataFrame(rows).to_parquet(a.file)
    print(f"{len(rows)} rows in {a.file}")


if __name__ == "__main__":
    main()
