"""Reward functions for verl: reward.custom_reward_function.path is this file, .name one of
compute_score_gathered, compute_score and compute_score_batch. extra_info holds prompt_id."""
from __future__ import annotations

import asyncio
import uuid
from typing import Any, Optional, Sequence

from cudal1.client import Verdict, rate

GATHERING = 0.05    # seconds in which single answers become a batch
_gathered: dict = {}


def score(verdict: Verdict, reasons: bool) -> dict[str, Any]:
    """verl demands a float, so an answer without a verdict counts 0 and is told apart by the
    second key. reasons adds the reason of a failure."""
    found: dict[str, Any] = {"score": verdict.reward or 0.0,
                             "measured": verdict.reward is not None}
    if reasons:
        found.update(failure=verdict.failure or verdict.state, detail=verdict.detail or "")
    return found


def _singly(prompt_ids: Sequence, answers: Sequence[str]) -> list[Verdict]:
    """Each answer is a sample of its own, whatever was asked before."""
    return rate(prompt_ids, answers, keys=[uuid.uuid4().hex for _ in answers])


def compute_score_batch(data_sources: Any, solution_strs: Sequence[str], ground_truths: Any,
                        extra_infos: Sequence[dict], reasons: bool = False,
                        **kwargs: Any) -> list[dict[str, Any]]:
    """For verl without a reward loop: reward_model.reward_manager=batch."""
    ids = [(info or {}).get("prompt_id") for info in extra_infos]
    return [score(v, reasons) for v in rate(ids, solution_strs)]


def _send(loop: asyncio.AbstractEventLoop) -> None:
    batch = _gathered.pop(loop)

    def deliver(rated: asyncio.Future) -> None:
        for i, (_, _, future) in enumerate(batch):
            if future.done():
                continue
            if rated.exception() is not None:
                future.set_exception(rated.exception())
            else:
                future.set_result(rated.result()[i])

    loop.run_in_executor(
        None, _singly, [p for p, _, _ in batch],
        [s for _, s, _ in batch]).add_done_callback(deliver)


async def compute_score_gathered(data_source: Any, solution_str: str, ground_truth: Any,
                                 extra_info: Optional[dict] = None, reasons: bool = False,
                                 **kwargs: Any) -> dict[str, Any]:
    """For verl's reward loop, which asks for many answers at once, each by itself. What comes
    within GATHERING seconds is one statement and one wait, where compute_score keeps a thread and
    a connection for each."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    if loop not in _gathered:
        _gathered[loop] = []
        loop.call_later(GATHERING, _send, loop)
    _gathered[loop].append(((extra_info or {}).get("prompt_id"), solution_str, future))
    return score(await future, reasons)


def compute_score(data_source: Any, solution_str: str, ground_truth: Any,
                  extra_info: Optional[dict] = None, reasons: bool = False,
                  **kwargs: Any) -> dict[str, Any]:
    """For managers of verl that ask for one answer at a time."""
    return score(_singly([(extra_info or {}).get("prompt_id")], [solution_str])[0], reasons)
