"""The reward function for OpenRLHF: --reward.remote_url is the path of this file."""
from __future__ import annotations

import re
import uuid
from typing import Any, Sequence

from cudal1.client import rate, same_length

try:
    from torch import tensor    # OpenRLHF has it, and takes its numbers as tensors
except ImportError:
    tensor = list               # type: ignore[assignment, misc]

TAIL = 100      # letters of a prompt by which its end is found


def answer_of(query: str, prompt: str) -> str:
    """What follows the prompt in a query. A query is made of tokens, so it may have other blanks,
    and of a prompt that was too long it has the end alone. ValueError: it has no prompt."""
    if query.startswith(prompt):
        return query[len(prompt):]
    tail = "".join(prompt.split())[-TAIL:]
    found = re.search(r"\s*".join(map(re.escape, tail)), query)
    if found is None:
        raise ValueError(f"a query does not contain the end of its prompt, {prompt[-TAIL:]!r}")
    return query[found.end():]


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence,
                **kwargs: Any) -> dict[str, Any]:
    """A label holds the prompt's id, a query begins with the prompt. Answers without a verdict
    count 0, and 0 in extra_logs' measured."""
    same_length(queries=queries, prompts=prompts, labels=labels)
    answers = [answer_of(q, p) for q, p in zip(queries, prompts)]
    found = rate(labels, answers, keys=[uuid.uuid4().hex for _ in answers])
    scores = [v.reward or 0.0 for v in found]
    return {"rewards": tensor(scores), "scores": tensor([min(s, 1.0) for s in scores]),
            "extra_logs": {"measured": tensor([float(v.reward is not None) for v in found])}}
