"""Rewards for GRPO trainers, measured by cudal1 (needs psycopg 3: pip install 'psycopg[binary]').

A prompt is made by the database and carries its id; an answer is submitted under that id, and its reward is the
measured speedup over the reference, 0 for code that fails, and None where nothing could be measured.

    CUDAL1_DSN      connection string, default "": libpq's environment (PGHOST, PGDATABASE, ...)
    CUDAL1_METHOD   the method that reports print, default "grpo"; it belongs to the role that uses it first

The role needs `SELECT cudal1_grant('trainer_role', 'trainer')`. A batch is one statement. Each answer has a key of its own,
so that what is sent again, because the connection or the trainer broke, adds nothing; no transaction is open while
anything is waited for.
"""
import asyncio
import hashlib
import logging
import os
import threading
import time
import uuid

import psycopg

log = logging.getLogger("cudal1")
_local = threading.local()
_known = False      # has this process ever had a connection?

LIMIT = 3600        # seconds for a batch
PATIENCE = 300      # seconds in which a lost server may come back
GATHERING = 0.05    # seconds in which single answers become a batch
METHOD = os.environ.get("CUDAL1_METHOD", "grpo")

# what another try may cure: another session was in the way, no place was free, the server shut down, starts, or ended an idle session
PASSING = ("40001", "40P01", "53300", "57P01", "57P02", "57P03", "57P05")

# what an answer may meet since its prompt was made: the task has been retired, or its reference found bad
REFUSED = (psycopg.errors.UndefinedObject, psycopg.errors.ObjectNotInPrerequisiteState)


def connection():
    """One connection a thread of a process; autocommit, since waiting inside a transaction would wait for ever."""
    global _known
    if getattr(_local, "pid", None) != os.getpid() or _local.connection.closed:
        _local.connection = psycopg.connect(os.environ.get("CUDAL1_DSN", ""), autocommit=True, client_encoding="utf8")
        _local.pid = os.getpid()
        _known = True
    return _local.connection


def passes(error):
    """May the statement succeed on another connection? A lost one has no state; OperationalError also stands for a statement that is too
    large, is cancelled or meets a full disk."""
    return error.sqlstate is None or error.sqlstate.startswith("08") or error.sqlstate in PASSING


def query(statement, parameters):
    """Rows of a statement that may be repeated; when the connection is lost, it is, on another one. What the server says of the statement
    is raised, as is a first connection that fails: its address is more likely wrong than its server away."""
    deadline, pause = None, 0.2
    while True:
        try:
            return connection().execute(statement, parameters).fetchall()
        except psycopg.OperationalError as error:
            if not _known or not passes(error) or deadline is not None and time.monotonic() > deadline:
                raise
            if deadline is None:
                deadline = time.monotonic() + PATIENCE
                log.warning("trying again for %d s: %s", PATIENCE, error)
            if getattr(_local, "pid", None) == os.getpid():
                _local.connection.close()
            time.sleep(pause)
            pause = min(2 * pause, 10)


def column(statement, parameters=()):
    """The values of a query that has one column."""
    return [value for value, in query(statement, parameters)]


def make_prompts(tasks, n=2, strategy="bucket"):
    """Rows for a trainer's data set: the prompt and the id under which answers to it are submitted."""
    for task in tasks:
        prompt_id, prompt = query("SELECT prompt_id, prompt FROM cudal1_prompt(%s, %s, %s)", (task, n, strategy))[0]
        yield {"prompt": prompt, "prompt_id": prompt_id}


def clean(text):
    """What the server can hold of a text: no NUL, and where half a surrogate pair stands, a replacement character."""
    return text.replace("\0", "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def send(rows, method):
    return column("SELECT cudal1_submit_response(u.prompt_id, u.answer, %s, u.grp, u.key)"
                  " FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[]) WITH ORDINALITY AS u (prompt_id, answer, grp, key, n)"
                  " ORDER BY u.n", (method, *([row[i] for row in rows] for i in range(4))))


def submit(prompt_ids, answers, method, groups, keys):
    """The candidates of answers, in their order; a malformed one is a failed candidate, not an error. What is refused because of its task is
    None among others that are not; alone it is an error."""
    rows = [(p, clean(a), g, k) for p, a, g, k in zip(prompt_ids, answers, groups, keys)]
    try:
        return send(rows, method)
    except REFUSED as error:
        if len(rows) == 1:
            raise
        refused = error
    found = []
    for row in rows:
        try:
            found += send([row], method)
        except REFUSED as error:
            log.warning("an answer to prompt %s is not measured: %s", row[0], error)
            found.append(None)
    if not any(found):
        raise refused
    return found


def wait(candidates, limit=LIMIT):
    """Rewards in the order of the candidates, once all are decided; None for what is not decided after limit seconds, and for no candidate."""
    asked = [c for c in candidates if c is not None]
    deadline = time.monotonic() + limit
    while True:
        rest = max(0.0, min(30.0, deadline - time.monotonic()))
        rows = query("SELECT state, reward FROM cudal1_wait(%s, make_interval(secs => %s))", (asked, rest))
        if rest == 0 or all(state in ("successful", "failed", "discarded") for state, _ in rows):
            rewards = iter(reward for _, reward in rows)
            return [None if c is None else next(rewards) for c in candidates]


def rewards_of(prompt_ids, answers, method=METHOD, step=None):
    """One batch. Its name follows from its content and step, so that a batch that is evaluated again is the same one."""
    name = hashlib.sha256(repr((step, list(prompt_ids), list(answers))).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    groups = [f"{name}/{p}" for p in prompt_ids]
    return wait(submit(list(prompt_ids), list(answers), method, groups, [str(i) for i in range(len(groups))]))


def text_of(completion):
    """A completion is a string or, in a conversation, a list of messages, some perhaps without a text."""
    return completion if isinstance(completion, str) else "".join(m.get("content") or "" for m in completion if m["role"] == "assistant")


def speedup_reward(prompts, completions, prompt_id, **kwargs):
    """For TRL: GRPOTrainer(reward_funcs=speedup_reward), with prompt_id a column of the data set. None is left out of its group by TRL."""
    step = getattr(kwargs.get("trainer_state"), "global_step", None)
    return rewards_of(prompt_id, [text_of(c) for c in completions], step=step)


def verl_score(reward):
    """verl demands a float, so what could not be measured counts 0 and is told apart by the second key."""
    return {"score": reward or 0.0, "measured": reward is not None}


def compute_score_batch(data_sources, solution_strs, ground_truths, extra_infos, **kwargs):
    """For verl without a reward loop, with reward_model.reward_manager=batch and custom_reward_function.name=compute_score_batch, .path this file;
    extra_info holds prompt_id."""
    return [verl_score(r) for r in rewards_of([e["prompt_id"] for e in extra_infos], solution_strs)]


_gathered = {}


def _send(loop):
    batch = _gathered.pop(loop)

    def rate():
        keys = [uuid.uuid4().hex for _ in batch]
        return wait(submit([p for p, _, _ in batch], [s for _, s, _ in batch], METHOD, [None] * len(batch), keys))

    def deliver(rated):
        for i, (_, _, future) in enumerate(batch):
            if future.done():
                continue
            if rated.exception() is not None:
                future.set_exception(rated.exception())
            else:
                future.set_result(rated.result()[i])

    loop.run_in_executor(None, rate).add_done_callback(deliver)


async def compute_score_gathered(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    """For verl's reward loop (reward.custom_reward_function.path this file, .name=compute_score_gathered), which asks for many answers at once,
    each by itself; extra_info holds prompt_id. What comes within GATHERING seconds is one statement and one wait, where compute_score keeps
    a thread and a connection for each."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    if loop not in _gathered:
        _gathered[loop] = []
        loop.call_later(GATHERING, _send, loop)
    _gathered[loop].append((extra_info["prompt_id"], solution_str, future))
    return verl_score(await future)


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    """For managers of verl that ask for one answer at a time: .name=compute_score. Each call is a sample of its own."""
    return verl_score(wait(submit([extra_info["prompt_id"]], [solution_str], METHOD, [None], [uuid.uuid4().hex]))[0])


def reward_func(queries, prompts, labels, **kwargs):
    """For OpenRLHF: --reward.remote_url examples/rewards.py; a label holds the prompt's id, a query begins with the prompt."""
    answers = [q[len(p):] if q.startswith(p) else q for q, p in zip(queries, prompts)]
    keys = [uuid.uuid4().hex for _ in answers]
    found = wait(submit([int(label) for label in labels], answers, METHOD, [None] * len(keys), keys))
    scores = [r or 0.0 for r in found]
    return {"rewards": scores, "scores": [min(s, 1.0) for s in scores], "extra_logs": {"measured": [float(r is not None) for r in found]}}
