#!/usr/bin/env python3
"""Stage 1: supervised fine-tuning on the successful codes of the database (cudal1_sft_dataset).

  sft.py --model MODEL --output FOLDER [--pool POOL] [--methods NAME,...] [--above REWARD] ...

A killed run goes on from its last checkpoint, with the examples it began with. The model is left
in FOLDER.
"""
import argparse
import os
import random
import time

from common import (FiniteSteps, arguments, as_answer, as_prompt, last_checkpoint, load, precision,
                    read, reports, write)
import cudal1
from datasets import Dataset
from trl import SFTConfig, SFTTrainer


def examples(a):
    """What the database has now, kept in the folder for a run that goes on later."""
    path = os.path.join(a.output, "examples.json")
    rows = read(path)
    if rows is None:
        while True:
            rows = cudal1.column(
                "SELECT cudal1_sft_dataset(methods => %s, tasks => %s, above => %s,"
                " per_task => %s, pool => %s, content => %s, unconfirmed => %s)",
                (a.methods, a.tasks, a.above, a.per_task, a.pool, a.content, not a.timed))
            if len(rows) >= a.wait_for:
                break
            time.sleep(2)
        random.Random(a.seed).shuffle(rows)
        write(path, rows)
    return rows


def fine_tune(model, tokenizer, pairs, output, a, epochs, checkpoints=True):
    """Trains on pairs of a prompt (as as_prompt() makes it) and an answer, of which the answer
    counts."""
    def fits(pair):
        prompt = pair[0] if isinstance(pair[0], str) else "".join(m["content"] for m in pair[0])
        return len(tokenizer(prompt + pair[1])["input_ids"]) < a.max_length

    fitting = [p for p in pairs if fits(p)]
    if len(fitting) < len(pairs):
        print(f"{len(pairs) - len(fitting)} of {len(pairs)} examples are longer than"
              f" {a.max_length} tokens")
    data = Dataset.from_list(
        [{"prompt": p, "completion": as_answer(tokenizer, c)} for p, c in fitting])
    trainer = SFTTrainer(
        model=model, processing_class=tokenizer, train_dataset=data, callbacks=[FiniteSteps()],
        args=SFTConfig(
            output_dir=output, per_device_train_batch_size=a.micro_batch,
            gradient_accumulation_steps=max(1, a.batch // a.micro_batch), num_train_epochs=epochs,
            max_steps=getattr(a, "steps", None) or -1, learning_rate=a.learning_rate,
            lr_scheduler_type="cosine", warmup_steps=5, max_length=None, logging_steps=a.log_every,
            report_to=reports(), seed=a.seed, save_strategy="steps" if checkpoints else "no",
            save_steps=a.save_every, save_total_limit=2,
            gradient_checkpointing=a.gradient_checkpointing, disable_tqdm=True, **precision()))
    trainer.train(resume_from_checkpoint=last_checkpoint(output) if checkpoints else None)
    trainer.save_model(output)
    return trainer


def training_arguments(p):
    p.add_argument("--max-length", type=int, default=4096,
                   help="tokens; longer examples are left out")
    p.add_argument("--batch", type=int, default=16, help="examples in one step")
    p.add_argument("--save-every", type=int, default=50, metavar="STEPS")
    p.add_argument("--log-every", type=int, default=5, metavar="STEPS")
    p.add_argument("--gradient-checkpointing", action="store_true")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments(p)
    training_arguments(p)
    p.add_argument("--pool", help="only codes of this pool")
    p.add_argument("--methods", type=lambda text: text.split(","), metavar="NAME,...")
    p.add_argument("--per-task", type=int, help="at most so many of the best of each task")
    p.add_argument("--above", type=float, default=0, help="only rewards above this")
    p.add_argument("--content", choices=("answer", "code"), default="answer",
                   help="code: the fenced code alone")
    p.add_argument("--timed", action="store_true",
                   help="only right codes that have a time, too; what runs and is right counts"
                   " without --above")
    p.add_argument("--wait-for", type=int, default=0, metavar="N",
                   help="begin when the database has so many")
    p.add_argument("--epochs", type=float, default=3)
    p.add_argument("--steps", type=int, help="instead of --epochs")
    a = p.parse_args()
    rows = examples(a)
    if not rows:
        p.error("the database has no successful codes for this")
    print(f"{len(rows)} examples of {len({r['task'] for r in rows})} tasks")
    model, tokenizer = load(a.model, a.lora)
    pairs = []
    for *system, prompt, answer in (row["messages"] for row in rows):
        pairs.append((as_prompt(tokenizer, prompt["content"],
                                system[0]["content"] if system else None), answer["content"]))
    fine_tune(model, tokenizer, pairs, a.output, a, a.epochs)


if __name__ == "__main__":
    main()
