"""The connection, prompts, submissions and verdicts.

A batch is one statement. Each answer has a key of its own, so what is sent again, because the
connection or the trainer broke, adds nothing. No transaction is open while anything is waited for.
"""
from __future__ import annotations

import hashlib
import logging
import operator
import os
import threading
import time
from collections import Counter
from typing import Any, Iterable, NamedTuple, Optional, Sequence

import psycopg

log = logging.getLogger("cudal1")
_local = threading.local()
_known = False      # has this process ever had a connection?

LIMIT = 3600        # seconds for a batch
PATIENCE = 300      # seconds in which a lost server may come back
METHOD = os.environ.get("CUDAL1_METHOD", "grpo")
FINAL = ("successful", "failed", "discarded")

# Another try may cure these: another session was in the way, no place was free, the server shut
# down, starts, or ended an idle session.
PASSING = ("40001", "40P01", "53300", "57P01", "57P02", "57P03", "57P05")

# These concern a row: no such prompt, a task that was retired or whose reference was found bad, a
# role that may not answer, a value or a text that is too long, a quota.
OF_A_ROW = ("22", "23", "42", "54", "55000", "53400")


class Verdict(NamedTuple):
    """What became of an answer."""
    candidate_id: Optional[int]     # None: it was refused
    state: str                      # successful, failed, discarded, or not final yet; refused
    reward: Optional[float]         # a speedup; 0 failed, None has no verdict
    failure: Optional[str]          # malformed, compile_error, wrong_output, ...
    detail: Optional[str]           # what the compiler said, the first wrong element, an error


def connection() -> psycopg.Connection:
    """One connection a thread of a process. It commits each statement, since waiting inside a
    transaction would wait for ever, and prepares none, since PgBouncer may run the next one in
    another session."""
    global _known
    if getattr(_local, "pid", None) != os.getpid() or _local.connection.closed:
        _local.connection = psycopg.connect(
            os.environ.get("CUDAL1_DSN", ""), autocommit=True, prepare_threshold=None,
            client_encoding="utf8")
        _local.pid = os.getpid()
        _known = True
    return _local.connection


def passes(error: psycopg.Error) -> bool:
    """May the statement succeed on another connection? A lost one has no state; OperationalError
    also stands for a statement that is too large, is cancelled or meets a full disk."""
    return error.sqlstate is None or error.sqlstate.startswith("08") or error.sqlstate in PASSING


def shorten(error: psycopg.Error) -> None:
    """Leaves the trace through the server's own functions out of what an error says. A missing
    grant gets a hint, as PostgreSQL gives none."""
    hint = error.diag.message_hint
    if error.sqlstate == "42501" and not hint:
        hint = ("A superuser grants it in this database:"
                f" SELECT cudal1_grant('{connection().info.user}', 'trainer')")
    if error.diag.context or error.sqlstate == "42501":
        said = [error.diag.message_primary]
        said += [f"{name}:  {words}" for name, words in (
            ("DETAIL", error.diag.message_detail), ("HINT", hint)) if words]
        error.args = ("\n".join(map(str, said)),)


def query(statement: str, parameters: Sequence[Any] = ()) -> list[tuple]:
    """Rows of a statement that may be repeated; when the connection is lost, it is, on another
    one, for PATIENCE seconds. An error of the statement is raised. So is a first connection that
    fails: its address is more likely wrong than its server away."""
    deadline, pause = None, 0.2
    while True:
        try:
            return connection().execute(statement, parameters).fetchall()
        except psycopg.OperationalError as error:
            if not _known or not passes(error) or deadline and time.monotonic() > deadline:
                raise
            if deadline is None:
                deadline = time.monotonic() + PATIENCE
                log.warning("trying again for %d s: %s", PATIENCE, error)
            if getattr(_local, "pid", None) == os.getpid():
                _local.connection.close()
            time.sleep(pause)
            pause = min(2 * pause, 10)
        except psycopg.Error as error:
            shorten(error)
            raise


def column(statement: str, parameters: Sequence[Any] = ()) -> list:
    """The values of a query that has one column."""
    return [value for value, in query(statement, parameters)]


def prompts(tasks: Iterable[str], n: int = 2, strategy: Optional[str] = None,
            kind: str = "contrastive", pool: str = "main") -> list[dict[str, Any]]:
    """Rows for a trainer's data set, one a task: the prompt, with n exemplars drawn now by
    strategy (None: the task's own) from the pool, and the id under which answers to it are
    submitted. kind augment shows the reference alone. A string is one task."""
    rows = []
    for task in [tasks] if isinstance(tasks, str) else tasks:
        prompt_id, prompt = query(
            "SELECT prompt_id, prompt FROM cudal1_prompt(%s::text, %s, %s, kind => %s, pool => %s)",
            (task, n, strategy, kind, pool))[0]
        rows.append({"prompt": prompt, "prompt_id": prompt_id})
    return rows


def clean(text: str) -> str:
    """What the server can hold of a text: no NUL, and where half a surrogate pair stands, a
    replacement character."""
    whole = text.replace("\0", "").encode("utf-16-le", "surrogatepass")
    return whole.decode("utf-16-le", "replace")


def same_length(**columns: Sequence) -> None:
    """Raises ValueError unless all have as many elements, TypeError where one is no sequence."""
    for name, values in columns.items():
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise TypeError(f"{name} is a list with an element for each answer,"
                            f" not {type(values).__name__}")
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError("a batch needs as many of each: "
                         + ", ".join(f"{n} {name}" for name, n in lengths.items()))


def _send(rows: list[tuple], method: str) -> list[int]:
    return column(
        "SELECT cudal1_submit_response(u.prompt_id, u.answer, %s, u.grp, u.key)"
        " FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[])"
        " WITH ORDINALITY AS u (prompt_id, answer, grp, key, n) ORDER BY u.n",
        (method, *([row[i] for row in rows] for i in range(4))))


def _of_a_row(error: psycopg.Error) -> bool:
    return error.sqlstate is not None and error.sqlstate.startswith(OF_A_ROW)


def _row(prompt_id: Any, answer: Any, group: Optional[str], key: Optional[str]) -> tuple:
    """A row as the server takes it: any integer is an id (numpy's, a tensor, digits)."""
    if prompt_id is None:
        raise TypeError("an answer needs its prompt_id, which cudal1.prompts() gives: a column of"
                        " TRL's data set, a key of verl's extra_info, OpenRLHF's label")
    try:
        number = int(prompt_id) if isinstance(prompt_id, str) else operator.index(prompt_id)
    except (TypeError, ValueError) as error:
        raise type(error)(f"prompt_id is an integer, not {prompt_id!r}") from None
    if not isinstance(answer, str):
        raise TypeError(f"an answer is a text, not {type(answer).__name__}")
    return number, clean(answer), group, key


def _submit(prompt_ids: Sequence, answers: Sequence, method: str, groups: Sequence,
            keys: Sequence) -> list:
    """For each answer its candidate or the error of its row. Raises where no row is right."""
    same_length(prompt_ids=prompt_ids, answers=answers, groups=groups, keys=keys)
    found: list = []
    for row in zip(prompt_ids, answers, groups, keys):
        try:
            found.append(_row(*row))
        except (TypeError, ValueError) as error:
            found.append(error)
    right = [i for i, row in enumerate(found) if isinstance(row, tuple)]
    try:
        sent: list = _send([found[i] for i in right], method) if right else []
    except psycopg.Error as error:
        if not _of_a_row(error):
            raise
        sent = []
        for i in right:
            try:
                sent += _send([found[i]], method)
            except psycopg.Error as error_of_row:
                if not _of_a_row(error_of_row):
                    raise
                sent.append(error_of_row)
    for i, result in zip(right, sent):
        found[i] = result
    errors = [(i, e) for i, e in enumerate(found) if isinstance(e, Exception)]
    if found and len(errors) == len(found):
        raise errors[0][1]
    for i, refusal in errors:
        log.warning("answer %d, to prompt %s, is not measured: %s", i, prompt_ids[i], refusal)
    return found


def submit(prompt_ids: Sequence, answers: Sequence[str], method: str, groups: Sequence,
           keys: Sequence) -> list[Optional[int]]:
    """The candidates of answers, in their order. A malformed answer is a failed candidate. A row
    that is refused is None, with a warning; where all are, its error is raised. ValueError:
    sequences of several lengths."""
    return [None if isinstance(c, Exception) else c
            for c in _submit(prompt_ids, answers, method, groups, keys)]


def wait(candidates: Sequence[Optional[int]], limit: float = LIMIT) -> list[Optional[float]]:
    """Rewards in the order of the candidates, once all are decided; None for what is not decided
    after limit seconds, and for no candidate."""
    asked = [c for c in candidates if c is not None]
    deadline = time.monotonic() + limit
    while True:
        rest = max(0.0, min(30.0, deadline - time.monotonic()))
        rows = query("SELECT state, reward FROM cudal1_wait(%s, make_interval(secs => %s))",
                     (asked, rest))
        decided = sum(state in FINAL for state, _ in rows)
        if rest == 0 or decided == len(rows):
            rewards = iter(reward for _, reward in rows)
            return [None if c is None else next(rewards) for c in candidates]
        log.info("%d of %d answers have a verdict", decided, len(rows))


def verdicts(candidates: Sequence[Optional[int]]) -> list[Verdict]:
    """What is known of candidates now, in their order, with the reasons of those that failed."""
    rows = query("SELECT candidate_id, state, reward, failure, detail FROM cudal1.candidate"
                 " WHERE candidate_id = ANY (%s)", ([c for c in candidates if c is not None],))
    known = {row[0]: Verdict(*row) for row in rows}
    unknown = Verdict(None, "refused", None, None, None)
    return [known.get(c, unknown) if c is not None else unknown for c in candidates]


def summary(found: Sequence[Verdict]) -> dict[str, int]:
    """How many answers are right, wrong by each reason, and without a verdict."""
    counts = Counter(
        "right" if v.state == "successful" else
        v.failure if v.state == "failed" and v.failure else "unmeasured" for v in found)
    return {name: counts[name] for name in ("right", *sorted(set(counts) - {"right"}))}


def rate(prompt_ids: Sequence, answers: Sequence[str], method: Optional[str] = None,
         step: Any = None, groups: Optional[Sequence] = None, keys: Optional[Sequence] = None,
         limit: Optional[float] = None) -> list[Verdict]:
    """Submits a batch, waits, and says what became of each answer. Without keys the batch is named
    by its content and step, so that one which is evaluated again adds nothing, and without groups
    answers to one prompt are one. Logs a line: how many are right, wrong by each reason, and the
    seconds."""
    start = time.monotonic()
    same_length(prompt_ids=prompt_ids, answers=answers)
    if keys is None:
        named = repr((step, [str(p) for p in prompt_ids], list(answers)))
        name = hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        groups = groups or [f"{name}/{p}" for p in prompt_ids]
        keys = [f"{name}/{i}" for i in range(len(answers))]
    sent = _submit(prompt_ids, answers, method or METHOD, groups or [None] * len(answers), keys)
    candidates = [None if isinstance(c, Exception) else c for c in sent]
    rewards = wait(candidates, LIMIT if limit is None else limit)
    found = [
        v._replace(detail=str(c).split("\n", maxsplit=1)[0]) if isinstance(c, Exception) else
        v._replace(reward=reward) for v, c, reward in zip(verdicts(candidates), sent, rewards)]
    best = max((v.reward for v in found if v.reward), default=None)
    log.info("%s%d answers: %s%s, %.1f s", "" if step is None else f"step {step}, ", len(found),
             ", ".join(f"{n} {name}" for name, n in summary(found).items()),
             "" if best is None else f", best {best:.2f}", time.monotonic() - start)
    return found
