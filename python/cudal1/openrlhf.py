"""The reward function for OpenRLHF: --reward.remote_url is the path of this file."""
from __future__ import annotations

import uuid
from typing import Any, Sequence

from cudal1.client import rate, same_length


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence,
                **kwargs: Any) -> dict[str, Any]:
    """A label holds the prompt's id, a query begins with the prompt. Answers without a verdict
    count 0, and 0 in extra_logs' measured."""
    same_length(queries=queries, prompts=prompts, labels=labels)
    answers = [q[len(p):] if q.startswith(p) else q for q, p in zip(queries, prompts)]
    found = rate(labels, answers, keys=[uuid.uuid4().hex for _ in answers])
    scores = [v.reward or 0.0 for v in found]
    return {"rewards": scores, "scores": [min(s, 1.0) for s in scores],
            "extra_logs": {"measured": [float(v.reward is not None) for v in found]}}
