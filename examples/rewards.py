"""The reward functions of the package cudal1 (python/) in one file of this clone, for trainers that take a path: verl's
reward.custom_reward_function.path, OpenRLHF's --reward.remote_url. It needs psycopg 3."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))

from cudal1 import prompts as make_prompts  # noqa: E402
from cudal1.openrlhf import reward_func  # noqa: E402
from cudal1.trl import speedup_reward  # noqa: E402
from cudal1.verl import compute_score, compute_score_batch, compute_score_gathered  # noqa: E402

__all__ = ["compute_score", "compute_score_batch", "compute_score_gathered", "make_prompts", "reward_func", "speedup_reward"]
