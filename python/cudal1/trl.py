"""For TRL: GRPOTrainer(reward_funcs=speedup_reward, train_dataset=prompt_dataset(tasks))."""
from __future__ import annotations

from typing import Any, Iterable, Optional, Sequence

from cudal1.client import prompts as draw_prompts
from cudal1.client import rate, summary


def prompt_dataset(tasks: Iterable[str], **options: Any):
    """A data set with a row a task, whose prompts are drawn as the trainer reads them, a step
    ahead at most, so each shows what was found by then. options are those of cudal1.prompts. A row
    that is repeated in a batch, as TRL does for the answers of a group, has one prompt there. So a
    process must read whole groups: per_device_train_batch_size times steps_per_generation is a
    multiple of num_generations. Steps that reuse answers draw prompts that nobody answers."""
    from datasets import Dataset

    def draw(rows: dict) -> dict:
        place = {n: k for k, n in enumerate(dict.fromkeys(rows["row"]))}
        of = dict(zip(rows["row"], rows["task"]))
        drawn = draw_prompts((of[n] for n in place), **options)
        return {key: [drawn[place[n]][key] for n in rows["row"]] for key in ("prompt", "prompt_id")}
    names = [tasks] if isinstance(tasks, str) else list(tasks)
    return Dataset.from_dict({"row": list(range(len(names))), "task": names}).with_transform(draw)


def text_of(completion: Any) -> Any:
    """A completion is a string or, in a conversation, a list of messages, some perhaps without a
    text, or with one in parts. What is neither comes back, and its row is refused."""
    if not isinstance(completion, (list, tuple)):
        return completion
    texts = [m.get("content") or "" for m in completion if m.get("role") == "assistant"]
    return "".join(t if isinstance(t, str) else "".join(part.get("text") or "" for part in t)
                   for t in texts)


def speedup_reward(prompts: Optional[Sequence], completions: Sequence,
                   prompt_id: Optional[Sequence] = None, **kwargs: Any) -> list[Optional[float]]:
    """Rewards of completions; prompt_id is a column of the data set. TRL leaves None out of its
    group. The shares of outcomes go to TRL's metrics, and the reason beside each completion to its
    table of completions, where the trainer offers log_metric and log_extra. ValueError: not as
    many ids as completions, for which TRL would spread one reward over all."""
    step = getattr(kwargs.get("trainer_state"), "global_step", None)
    found = rate([None] * len(completions) if prompt_id is None else prompt_id,
                 [text_of(c) for c in completions], step=step)
    if kwargs.get("log_metric"):
        for name, n in summary(found).items():
            kwargs["log_metric"](f"outcome/{name}", n / len(found))
    if kwargs.get("log_extra"):
        kwargs["log_extra"]("failure", [v.failure or v.state for v in found])
        kwargs["log_extra"]("detail", [v.detail or "" for v in found])
    return [v.reward for v in found]
