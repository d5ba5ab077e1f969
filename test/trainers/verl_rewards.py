"""verl's own calling code: its loader of custom functions, its batch manager and its reward loop rate answers by examples/rewards.py.

  verl_rewards.py PATH OF rewards.py     CUDAL1_DSN as there; a worker must measure the task "task"

Prints one JSON object.
"""
import asyncio
import json
import os
import sys

os.environ.update(CUDA_VISIBLE_DEVICES="", TOKENIZERS_PARALLELISM="false")
sys.path.insert(0, os.path.dirname(sys.argv[1]))

import numpy as np  # noqa: E402
import rewards  # noqa: E402
import torch  # noqa: E402
import verl  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402
from verl import DataProto  # noqa: E402
from verl.experimental.reward_loop.reward_manager import get_reward_manager_cls as loop_manager  # noqa: E402
from verl.trainer.ppo.reward import get_custom_reward_fn  # noqa: E402
from verl.workers.reward_manager import get_reward_manager_cls  # noqa: E402

HEADINGS = "## Performance Analysis\nfine\n\n## Algorithm Design\n1. fine\n\n## Code Implementation\n"


class Bytes:
    def decode(self, ids, skip_special_tokens=True):
        return bytes(int(i) for i in ids).decode()


def answer(code):
    return HEADINGS + "```c\n" + code + "\n```\n"


def data(texts, prompt_id):
    width = max(len(t) for t in texts)
    responses = torch.tensor([list(t.encode()) + [0] * (width - len(t)) for t in texts])
    mask = torch.tensor([[1] + [1] * len(t) + [0] * (width - len(t)) for t in texts])
    column = lambda values: np.array(values, dtype=object)  # noqa: E731
    return DataProto.from_dict(
        tensors={"prompts": torch.ones(len(texts), 1, dtype=torch.long), "responses": responses, "attention_mask": mask},
        non_tensors={"data_source": column(["cudal1"] * len(texts)), "reward_model": column([{"ground_truth": None}] * len(texts)),
                     "extra_info": column([{"prompt_id": prompt_id} for _ in texts])})


def function(name):
    return get_custom_reward_fn(OmegaConf.create({"reward": {"custom_reward_function": {"path": sys.argv[1], "name": name}}}))


prompt_id = rewards.make_prompts(["task"])[0]["prompt_id"]
codes = ["result 1.518", "result 2.5", "outcome crash died"]
manager = get_reward_manager_cls("batch")(Bytes(), 0, function("compute_score_batch"))
found = manager(data([answer(c) for c in codes] + ["no code"], prompt_id), return_dict=True)
again = manager(data([answer(c) for c in codes] + ["no code"], prompt_id), return_dict=True)


async def loop_over(name):
    one = loop_manager("naive")(OmegaConf.create({}), Bytes(), function(name))
    batch = data([answer(c) for c in codes], prompt_id)
    rated = await asyncio.gather(*(one.run_single(batch[i:i + 1]) for i in range(len(codes))))
    return [[r["reward_score"], r["reward_extra_info"]["measured"]] for r in rated]


loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
print(json.dumps({"verl": verl.__version__, "batch": [round(x, 4) for x in found["reward_tensor"].sum(dim=1).tolist()],
                  "measured": [bool(x) for x in found["reward_extra_info"]["measured"]],
                  "again": bool((found["reward_tensor"] == again["reward_tensor"]).all()),
                  "single": loop.run_until_complete(loop_over("compute_score")),
                  "gathered": loop.run_until_complete(loop_over("compute_score_gathered"))}))
