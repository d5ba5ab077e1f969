#!/usr/bin/env python3
"""What a model answers to the prompts of tasks: the share of right answers and their
rewards, measured.

  evaluate.py --model MODEL --output FOLDER --pool POOL [--tasks NAME,...] [--samples N]

The pool should be one of its own, since what is proposed into a run's pool becomes an exemplar
there. Prints one line of JSON: answers, right, share with its 95 % interval (Wilson), reward
(mean, failed 0), best, and the same of each task.
"""
import argparse
import json
import math
import os

from common import answer_arguments, answer_tasks, arguments, load
import torch


def interval(right, n, z=1.96):
    """Wilson's interval of a share."""
    middle = (right / n + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(right / n * (1 - right / n) / n + z * z / (4 * n * n))
    return round(max(0.0, middle - half), 3), round(min(1.0, middle + half), 3)


def summary(found):
    known = [r for r in found if r is not None]
    right = sum(r > 0 for r in known)
    return {"answers": len(found), "no_verdict": len(found) - len(known), "right": right,
            "share": round(right / len(known), 3) if known else None,
            "interval": interval(right, len(known)) if known else None,
            "reward": round(sum(known) / len(known), 3) if known else None,
            "best": max(known, default=None)}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments(p)
    answer_arguments(p)
    a = p.parse_args()
    model, tokenizer = load(a.model)
    if torch.cuda.is_available():
        model = model.cuda()
    torch.manual_seed(a.seed)
    a.method = a.method or f"evaluate: {a.pool}"
    rows = answer_tasks(a, model, tokenizer, os.path.join(a.output, "answers.json"), a.pool)
    tasks = {}
    for row in rows:
        tasks.setdefault(row["task"], []).append(row["reward"])
    found = summary([row["reward"] for row in rows])
    print(json.dumps(found | {"tasks": {task: summary(some) for task, some in tasks.items()}}))


if __name__ == "__main__":
    main()
