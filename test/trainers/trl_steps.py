"""TRL's own calling code: README's script with a tiny untrained model takes two steps whose rewards come from cudal1.trl, and
then rates answers that are right, wrong and never measured.

  trl_steps.py DIRECTORY OF cudal1     CUDAL1_DSN as there; a worker must measure the task "task"

Prints one JSON object.
"""
import json
import os
import re
import sys
import tempfile

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", CUDA_VISIBLE_DEVICES="", TOKENIZERS_PARALLELISM="false")
sys.path.insert(0, sys.argv[1])

import cudal1.client  # noqa: E402
import cudal1.trl  # noqa: E402
import torch  # noqa: E402
import trl  # noqa: E402
from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # noqa: E402
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast  # noqa: E402

HEADINGS = "## Performance Analysis\nfine\n\n## Algorithm Design\n1. fine\n\n## Code Implementation\n"


def tokenizer():
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = {c: i for i, c in enumerate(alphabet)} | {"<end>": len(alphabet), "<pad>": len(alphabet) + 1}
    inner = Tokenizer(models.BPE(vocab=words, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<end>", pad_token="<pad>", padding_side="left")


def answer(code):
    return HEADINGS + "```c\n" + code + "\n```\n"


words = tokenizer()
torch.manual_seed(1)
policy = LlamaForCausalLM(LlamaConfig(vocab_size=len(words), hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                                      num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=8192,
                                      eos_token_id=words.eos_token_id, pad_token_id=words.pad_token_id))
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../README.md"), encoding="utf-8") as readme:
    script = re.search(r"```python\n(.*?GRPOTrainer.*?)```", readme.read(), re.DOTALL).group(1)
with tempfile.TemporaryDirectory() as directory:
    policy.save_pretrained(directory)
    words.save_pretrained(directory)
    for old, new in (('["matrix product"] * 64', '["task"] * 4'), ("Qwen/Qwen2.5-Coder-1.5B-Instruct", directory), ("max_steps=100", "max_steps=2"),
                     ("num_generations=8", "num_generations=4"), ("max_completion_length=2048", "max_completion_length=16"),
                     ('output_dir="grpo"', f'output_dir="{directory}/grpo", per_device_train_batch_size=4, report_to=[], save_strategy="no",'
                      ' use_cpu=True, bf16=False, logging_steps=1, disable_tqdm=True')):
        assert old in script, old
        script = script.replace(old, new)
    names = {}
    exec(compile(script, "README.md", "exec"), names)
    trainer = names["trainer"]
    seen = {row["prompt_id"] for row in trainer.train_dataset}
    repeated = trainer.train_dataset.__getitems__([0, 0, 1, 1])
    rows = list(trainer.train_dataset)
    fresh = not seen & {row["prompt_id"] for row in rows + repeated}
    grouped = [row["prompt_id"] == repeated[k - k % 2]["prompt_id"] for k, row in enumerate(repeated)] == [True] * 4
    grouped &= repeated[0]["prompt_id"] != repeated[2]["prompt_id"]
    history = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
    texts = [answer("result 1.518"), answer("result 2.5"), answer("outcome crash died"), "no code"]
    inputs = [dict(rows[0], completion=None) for _ in texts]
    found = trainer._calculate_rewards(inputs, [rows[0]["prompt"]] * 4, texts, [[1]] * 4)
    again = trainer._calculate_rewards(inputs, [rows[0]["prompt"]] * 4, texts, [[1]] * 4)
    cudal1.client.LIMIT = 0.5
    lost = trainer._calculate_rewards(inputs[:2], [rows[0]["prompt"]] * 2, [answer("result 1.25"), answer("wait never")], [[1]] * 2)
print(json.dumps({"trl": trl.__version__, "torch": torch.__version__, "history": history, "rated": [round(x, 4) for x in found[:, 0].tolist()],
                  "again": bool((found == again).all()), "fresh": fresh, "grouped": grouped, "lost": [None if x != x else round(x, 4) for x in lost[:, 0].tolist()]}))
