"""Rewards for GRPO trainers, measured by cudal1 (needs psycopg 3).

A prompt is made by the database and carries its id; an answer is submitted under that id, and its reward is the
measured speedup over the reference, 0 for code that fails, and None where nothing could be measured.

    CUDAL1_DSN    connection string, default "": libpq's environment (PGHOST, PGDATABASE, ...)

The role needs `SELECT cudal1_grant('trainer_role', 'trainer')`.
"""
import os
import threading
import time
import uuid

import psycopg

_local = threading.local()


def connection():
    """One connection a thread of a process; autocommit, since waiting inside a transaction would wait for ever."""
    if getattr(_local, "pid", None) != os.getpid() or _local.connection.closed:
        _local.connection = psycopg.connect(os.environ.get("CUDAL1_DSN", ""), autocommit=True)
        _local.pid = os.getpid()
    return _local.connection


def make_prompts(tasks, n=2, strategy="bucket"):
    """Rows for a trainer's data set: the prompt and the id under which answers to it are submitted."""
    for task in tasks:
        prompt_id, prompt, _exemplars = connection().execute(
            "SELECT * FROM cudal1_prompt(%s, %s, %s)", (task, n, strategy)).fetchone()
        yield {"prompt": prompt, "prompt_id": prompt_id}


def submit(prompt_id, answer, method, group):
    """The candidate of an answer; a malformed one is a failed candidate, not an error."""
    return connection().execute("SELECT cudal1_submit_response(%s, %s, %s, %s)",
                                (prompt_id, answer.replace("\0", ""), method, group)).fetchone()[0]


def wait(candidates, limit):
    """Rewards in the order of the candidates, once all are decided; None for what is not decided after limit seconds."""
    deadline = time.monotonic() + limit
    while True:
        rest = max(0.0, min(30.0, deadline - time.monotonic()))
        rows = connection().execute("SELECT state, reward FROM cudal1_wait(%s, make_interval(secs => %s))",
                                    (candidates, rest)).fetchall()
        if rest == 0 or all(state in ("successful", "failed", "discarded") for state, _ in rows):
            return [reward for _, reward in rows]


def text_of(completion):
    """A completion is a string or, in a conversation, a list of messages."""
    return completion if isinstance(completion, str) else "".join(m["content"] for m in completion if m["role"] == "assistant")


def speedup_reward(prompts, completions, prompt_id, **kwargs):
    """For TRL: GRPOTrainer(reward_funcs=speedup_reward), with prompt_id a column of the data set.

    All answers of the batch are queued before the first is waited for. None is left out of its group by TRL.
    """
    batch = uuid.uuid4().hex
    candidates = [submit(p, text_of(c), "grpo", f"{batch}/{p}") for p, c in zip(prompt_id, completions)]
    return wait(candidates, limit=3600)


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    """For verl: custom_reward_function.path=examples/rewards.py, .name=compute_score; extra_info holds prompt_id."""
    candidate = submit(extra_info["prompt_id"], solution_str, "grpo", None)
    reward = wait([candidate], limit=3600)[0]
    # a float is demanded, so what could not be measured counts 0 and is told apart by the second key
    return {"score": reward or 0.0, "measured": reward is not None}
