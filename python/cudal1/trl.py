"""The reward function for TRL: GRPOTrainer(reward_funcs=speedup_reward)."""
from __future__ import annotations

from typing import Any, Optional, Sequence

from cudal1.client import rate, summary


def text_of(completion: Any) -> str:
    """A completion is a string or, in a conversation, a list of messages, some perhaps without a
    text."""
    if isinstance(completion, str):
        return completion
    return "".join(m.get("content") or "" for m in completion if m["role"] == "assistant")


def speedup_reward(prompts: Optional[Sequence], completions: Sequence, prompt_id: Sequence,
                   **kwargs: Any) -> list[Optional[float]]:
    """Rewards of completions; prompt_id is a column of the data set. TRL leaves None out of its
    group. The shares of outcomes go to TRL's metrics, and the reason beside each completion to its
    table of completions, where the trainer offers log_metric and log_extra. ValueError: not as
    many ids as completions, for which TRL would spread one reward over all."""
    step = getattr(kwargs.get("trainer_state"), "global_step", None)
    found = rate(prompt_id, [text_of(c) for c in completions], step=step)
    if kwargs.get("log_metric"):
        for name, n in summary(found).items():
            kwargs["log_metric"](f"outcome/{name}", n / len(found))
    if kwargs.get("log_extra"):
        kwargs["log_extra"]("failure", [v.failure or v.state for v in found])
        kwargs["log_extra"]("detail", [v.detail or "" for v in found])
    return [v.reward for v in found]
