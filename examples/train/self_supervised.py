#!/usr/bin/env python3
"""Stage 2: rounds of answers by the model itself, of which the successful ones are trained on
(CUDA-L1, 2.3).

  self_supervised.py --model MODEL --output FOLDER --pool POOL [--rounds N] ...

Reward 1 or 0 and no negative examples: the gradient of the policy is that of supervised training
on the successes. A success runs and is right, whether or not it has a time. Each round leaves its
model in FOLDER/round-N; a killed run goes on with the round it was in, whose answers are in
FOLDER/round-N.json before they are submitted.
"""
import argparse
import os

from common import answer_arguments, answer_tasks, arguments, load, read, write
import cudal1
import torch
from sft import fine_tune, training_arguments


def successes(a):
    """The candidates of the run that are executable and correct (CUDA-L1, 2.3)."""
    return set(cudal1.column(
        "SELECT (s ->> 'candidate_id')::bigint FROM cudal1_sft_dataset(methods => %s, pool => %s,"
        " unconfirmed => true) AS s", ([a.method], a.pool)))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments(p)
    training_arguments(p)
    answer_arguments(p)
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--epochs", type=float, default=1, help="on the successes of a round")
    a = p.parse_args()
    a.method = a.method or f"self-supervised: {a.pool}"
    before = a.model
    for number in range(1, a.rounds + 1):
        folder = os.path.join(a.output, f"round-{number}")
        done = os.path.join(folder, "done.json")
        if read(done) is None:
            model, tokenizer = load(before, a.lora)
            if torch.cuda.is_available():
                model = model.cuda()
            torch.manual_seed(a.seed + number)
            rows = answer_tasks(a, model, tokenizer, folder + ".json", f"{a.pool} round {number}")
            found = successes(a)
            right = [r for r in rows if r["candidate_id"] in found]
            solved = len({r["task"] for r in right})
            print(
                f"round {number}: {len(right)} of {len(rows)} answers are right, of {solved} tasks",
                flush=True)
            if right:
                fine_tune(model, tokenizer, [(r["prompt"], r["answer"]) for r in right], folder, a,
                          a.epochs, checkpoints=False)
            else:
                model.save_pretrained(folder)
                tokenizer.save_pretrained(folder)
            write(done, {"answers": len(rows), "right": len(right), "tasks": solved})
        before = folder


if __name__ == "__main__":
    main()
