#!/usr/bin/env python3
"""24 tasks for training in C or in CUDA C++, 6 of them held out, each with codes in many forms:
fast, slow, and wrong.

The references are plain: loops on one core, kernels of a beginner. What makes a code fast is one
of a few ideas, which the families of c_tasks.py and cuda_tasks.py share. A held-out task is a
family's idea on another formula, so it shows what was learnt and not what was memorised.

  tasks.py list | held-out                names
  tasks.py show --tasks NAME              codes
  tasks.py add [--pool POOL] ...          adds all tasks to the database, and proposes the codes of
                                          those to train on
"""
import argparse
import os
import random
import re
import sys

import c_tasks
import cuda_tasks
from needs import need

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

LANGUAGES = {"c": c_tasks, "cuda": cuda_tasks}
NAMES = ("s", "sum", "acc", "value")  # of the sum or the counter: the same form in other words
SMALL = (2, 8, 32, 256)


def names(language):
    """Of the tasks to train on, and of those held out: names with commas between them."""
    made = LANGUAGES[language]
    return (",".join(n for n in made.TASKS if (n in made.HELD_OUT) == held_out)
            for held_out in (False, True))


def forms(made, name, small=False, **sizes):
    """The signature and reference of a task of a language, and its codes: {form: code}; wrong ones
    are named wrong_... What is called s in a right one has another name in other spellings, which
    are there of each form or by turn."""
    family, *about = made.TASKS[name]
    codes = family(*about, **sizes)
    arguments, reference = next(codes)
    found = {}
    for number, (form, code) in enumerate(codes):
        numbers = {int(p) for p in form.split("_") if p.isdigit()}
        if form.startswith("wrong") or form == "other_order":
            if not small or form == "other_order":
                found[form] = code
        elif not small or numbers <= set(SMALL):
            few = NAMES[:2 if small else None]
            for k in range(min(made.SPELLINGS, len(few))):
                s = few[(number + k) % len(few)]
                found[f"{form}_{s}"] = re.sub(r"\b([ij]?)s(2?)\b", rf"\g<1>{s}\2", code)
    return {"entry": "solve", "args": arguments}, reference, found


def some(name, codes, most):
    """So many of a task's right codes, drawn by lot; all codes, wrong ones too, for None or 0. It
    is the same lot each time, so a larger number adds to the codes of a smaller one."""
    if not most:
        return codes
    right = [form for form in codes if not form.startswith("wrong")]
    random.Random(name).shuffle(right)
    return {form: codes[form] for form in right[:most]}


# words of one's own, for models that have little room
SHORT = {
    "augment": ("short plain", "**{task}**\n\n{reference}"),
    "contrastive": ("short contrastive", "**{task}**\n\n{reference}{exemplars}")}


def answer(language, form, code, short):
    """The whole text of an answer with a code."""
    fenced = f"```{language}\n{code}```\n"
    if short:
        return fenced
    analysis, design = ("The reference does more than it must.", "Fewer steps."
                        ) if "wrong" in form else LANGUAGES[language].WORDS[form.split("_")[0]]
    return (f"## Performance Analysis\n{analysis}\n\n## Algorithm Design\n{design}\n\n"
            f"## Code Implementation\n{fenced}")


def add(a, made):
    """Adds the tasks, and proposes their codes as answers: of each form, the first spelling
    answers a plain prompt, and others answer prompts with exemplars, which are drawn from the
    first."""
    need("psycopg")
    import psycopg
    from cudal1 import query, submit, wait
    query("SELECT cudal1_open_pool(%s)", (a.pool,))
    codes = {}
    for name in a.tasks:
        signature, reference, found = forms(made, name, a.small)
        query("SELECT cudal1_add_task(%s, %s, %s, %s, %s, %s)",
              (name, reference, a.language, psycopg.types.json.Jsonb(signature),
               2 if name in made.HELD_OUT else 1,
               psycopg.types.json.Jsonb({"profile": a.profile, "score_scale": "log"})))
        codes.update({(name, form): code for form, code in some(name, found, a.most).items()})
    if not a.codes:
        return
    total = {}
    for kind in ("augment", "contrastive"):
        template = None
        if a.short:
            template, words = SHORT[kind]
            query("SELECT cudal1_add_prompt_template(%s, %s, %s)", (template, kind, words))
        wanted = [(n, f) for n, f in codes
                  if n not in made.HELD_OUT and f.endswith(NAMES[1:]) == (kind == "contrastive")]
        prompts = [query("SELECT prompt_id FROM cudal1_prompt(%s, kind => %s, pool => %s,"
                         " template => %s)", (n, kind, a.pool, template))[0][0] for n, _ in wanted]
        found = submit(prompts, [answer(a.language, f, codes[n, f], a.short) for n, f in wanted],
                       a.method, [None] * len(wanted), [f"form {f}" for _, f in wanted])
        total.update(zip(wanted, wait(found, limit=36000)))
    for name in a.tasks:
        got = {f: r for (n, f), r in total.items() if n == name}
        right = sorted(r for r in got.values() if r)
        if right:
            print(f"{name}: {len(right)} of {len(got)} codes are right,"
                  f" {right[0]:.2f} to {right[-1]:.2f}", flush=True)
        for form in (f for f, r in got.items() if f.startswith("wrong") and r):
            print(f"{name}: {form} was meant to be wrong")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("what", choices=("list", "held-out", "show", "add"))
    p.add_argument("--language", choices=LANGUAGES, default="c")
    p.add_argument("--tasks", type=lambda text: text.split(","), metavar="NAME,...")
    p.add_argument("--small", action="store_true", help="few forms of each task")
    p.add_argument("--most", type=int, metavar="N",
                   help="so many right codes of each task, drawn by lot; a larger N adds to them")
    p.add_argument("--no-codes", dest="codes", action="store_false",
                   help="add the tasks alone")
    p.add_argument("--short", action="store_true",
                   help="short prompts, and answers of nothing but code")
    p.add_argument("--pool", default="stage-1")
    p.add_argument("--method", default="by hand")
    p.add_argument("--profile", default="default", help="with which the tasks are measured")
    a = p.parse_args()
    made = LANGUAGES[a.language]
    a.tasks = a.tasks or list(made.TASKS)
    if set(a.tasks) - set(made.TASKS):
        p.error("tasks are " + ", ".join(made.TASKS))
    if a.what in ("list", "held-out"):
        print(list(names(a.language))[a.what == "held-out"])
    elif a.what == "show":
        for name in a.tasks:
            _, reference, codes = forms(made, name, a.small)
            for form, code in {"reference": reference, **some(name, codes, a.most)}.items():
                print(f"/* {name}: {form} */\n{code}")
    else:
        add(a, made)


if __name__ == "__main__":
    main()
