"""Files of a run: records of JSON, and the steps that a trainer has logged."""
import json
import os
import statistics


def read(*path):
    """A file of JSON; None where there is none, or half of one."""
    try:
        with open(os.path.join(*path), encoding="utf-8") as f:
            return json.load(f)
    except (FileNotFoundError, json.JSONDecodeError):
        return None


def write(path, record):
    """A file of JSON, whole or not at all."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump(record, f)
        f.flush()
        os.fsync(f.fileno())
    os.replace(path + ".new", path)


def checkpoints(folder):
    """Those of a folder, whole or not, the newest first."""
    steps = [int(n[11:]) for n in (os.listdir(folder) if os.path.isdir(folder) else ())
             if n.startswith("checkpoint-") and n[11:].isdigit()]
    return [os.path.join(folder, f"checkpoint-{step}") for step in sorted(steps, reverse=True)]


def curve(folder):
    """What grpo.py has logged in a folder: a record a step, of the newest state there."""
    states = [read(path, "trainer_state.json") for path in [folder] + checkpoints(folder)]
    newest = max((s for s in states if s), key=lambda s: s["global_step"],
                 default={"log_history": []})
    return [row for row in newest["log_history"] if "reward" in row]


def mean(steps, figure):
    return statistics.mean(row.get(figure) or 0 for row in steps)


def print_evaluations(found, title):
    """What evaluate.py printed of models, by name."""
    print(f"\n{title:21s} {'right':>9s} {'95 % interval':>16s} {'mean reward':>11s} {'best':>7s}")
    for name, row in found.items():
        if row and row["interval"]:
            low, high = row["interval"]
            print(f"{name:21s} {row['right']:4d}/{row['answers']:4d} {low:8.3f} to {high:5.3f}"
                  f" {row['reward']:11.2f} {row['best']:7.2f}")
