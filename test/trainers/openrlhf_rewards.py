"""OpenRLHF's own calling code: its executor of single turns loads cudal1.openrlhf by its path and rates what a scripted engine answers,
and its samples are made of that. vLLM, which needs a GPU, is left out.

  openrlhf_rewards.py DIRECTORY OF cudal1     CUDAL1_DSN as there; a worker must measure the task "task"

Prints one JSON object.
"""
import asyncio
import json
import os
import sys
from types import ModuleType, SimpleNamespace

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", CUDA_VISIBLE_DEVICES="", TOKENIZERS_PARALLELISM="false")
sys.path.insert(0, sys.argv[1])
for name, member in (("vllm", "SamplingParams"), ("openrlhf.trainer.ray.vllm_engine", "batch_vllm_engine_call")):
    sys.modules[name] = ModuleType(name)
    setattr(sys.modules[name], member, None)

import cudal1  # noqa: E402
from openrlhf.trainer.ppo_utils.experience import make_experience_batch, split_experience_batch  # noqa: E402
from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator  # noqa: E402
from openrlhf.utils.agent import SingleTurnAgentExecutor  # noqa: E402
from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # noqa: E402
from transformers import PreTrainedTokenizerFast  # noqa: E402

HEADINGS = "## Performance Analysis\nfine\n\n## Algorithm Design\n1. fine\n\n## Code Implementation\n"


def tokenizer(**more):
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)} | {"<end>": len(alphabet)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<end>", **more)


class Engine:
    """Answers with one text, and ends as models do."""
    def __init__(self, words, text):
        self.tokens = words(text + "<end>", add_special_tokens=False)["input_ids"]

    async def generate(self, tokens, params, multi_modal_data=None):
        return SimpleNamespace(outputs=[SimpleNamespace(token_ids=self.tokens, finish_reason="stop", logprobs=None)])


async def rated(executor, words, texts, length=1 << 20):
    params = SimpleNamespace(max_tokens=1000, logprobs=None)
    return await asyncio.gather(*(executor.execute(prompt, label, params, length, words, Engine(words, text)) for text in texts))


row = cudal1.prompts(["task"])[0]
# as a chat template ends, and with blanks that some tokenizers leave out when they decode
prompt, label = row["prompt"] + "\nIt 's fast , and ends .\n<|im_start|>assistant\n", str(row["prompt_id"])
executor = SingleTurnAgentExecutor(os.path.join(sys.argv[1], "cudal1", "openrlhf.py"))
texts = [HEADINGS + f"```c\n{code}\n```" for code in ("result 1.518", "result 2.5", "outcome crash died")] + ["no code"]
words = tokenizer()
found = asyncio.run(rated(executor, words, texts))
cleaned = asyncio.run(rated(executor, tokenizer(clean_up_tokenization_spaces=True), texts))
cut = asyncio.run(rated(executor, words, texts, 1000 + 200))
samples = [SamplesGenerator._process_response_into_experience(None, response, max_len=1 << 20) for response in found]
batch = make_experience_batch([item for sample in samples for item in split_experience_batch(sample)])

def plain(numbers):
    return [round(float(x), 4) for x in numbers]


print(json.dumps({"openrlhf": os.path.dirname(sys.modules["openrlhf"].__file__), "rewards": plain(batch.rewards), "scores": plain(batch.scores),
                  "measured": plain(batch.info["measured"]), "cleaned": plain(r["reward"] for r in cleaned),
                  "cut": plain(r["reward"] for r in cut)}))
