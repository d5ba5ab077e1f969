"""What the three stages share: models, prompts as a model reads them, answers and their rewards,
checkpoints.

The connection is that of the package cudal1: CUDAL1_DSN, by default libpq's environment.
"""
import contextlib
import copy
import importlib.util
import os
import shutil

from needs import ALL, need

need(*ALL)
import cudal1  # noqa: E402
import torch  # noqa: E402
from peft import LoraConfig, PeftModel, get_peft_model  # noqa: E402
from records import checkpoints, read, write  # noqa: E402
from torch.nn.functional import scaled_dot_product_attention  # noqa: E402
from transformers import (AttentionInterface, AttentionMaskInterface,  # noqa: E402
                          AutoModelForCausalLM, AutoTokenizer, StaticCache, TrainerCallback)
from transformers.cache_utils import StaticLayer  # noqa: E402
from transformers.integrations.sdpa_attention import sdpa_attention_forward  # noqa: E402
from transformers.masking_utils import sdpa_mask  # noqa: E402

query = cudal1.query
# cuDNN's gradient holds NaN where padded answers have a length of 64 modulo 128 (on Hopper, in
# PyTorch 2.11 to 2.13, pytorch/pytorch 196678)
torch.backends.cuda.enable_cudnn_sdp(False)


def arguments(parser):
    parser.add_argument("--model", required=True,
                        help="a folder, or a name on the hub; a folder of a stage before")
    parser.add_argument("--output", required=True,
                        help="a folder for checkpoints, logs and the model")
    parser.add_argument("--tasks", type=lambda text: text.split(","), metavar="NAME,...",
                        help="default: all")
    parser.add_argument("--learning-rate", type=float, default=1e-5)
    parser.add_argument("--lora", type=int, default=0, metavar="RANK",
                        help="train an adapter of this rank alone")
    parser.add_argument("--micro-batch", type=int, default=4, metavar="N",
                        help="answers in one forward pass")
    parser.add_argument("--seed", type=int, default=1)


def load(path, lora=0):
    """The model and its tokenizer. A folder with an adapter is its base with the adapter, which is
    trained on."""
    tokenizer = AutoTokenizer.from_pretrained(path, padding_side="left")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    adapter = read(path, "adapter_config.json")
    base = adapter["base_model_name_or_path"] if adapter else path
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    if base != path:
        model = PeftModel.from_pretrained(model, path, is_trainable=True)
    elif lora:
        model = get_peft_model(
            model,
            LoraConfig(r=lora, lora_alpha=2 * lora, target_modules="all-linear",
                       task_type="CAUSAL_LM"))
    return model, tokenizer


def precision():
    """Arguments of a trainer: half precision and the GPU where there is one."""
    return {"use_cpu": not torch.cuda.is_available(), "bf16": torch.cuda.is_available()}


def reports():
    """What a trainer logs to: TensorBoard, and Weights & Biases where its environment is set."""
    found = [name for name in ("tensorboard", "wandb") if importlib.util.find_spec(name)]
    return [n for n in found if n != "wandb" or {"WANDB_API_KEY", "WANDB_MODE"} & set(os.environ)]


class FiniteSteps(TrainerCallback):
    """Leaves out an optimizer's step whose gradient is not finite, and says so: it would make all
    weights NaN."""
    def on_pre_optimizer_step(self, args, state, control, model=None, **more):
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        if not torch.isfinite(torch.nn.utils.get_total_norm(gradients)):
            print(f"step {state.global_step + 1} is left out: its gradient is not finite",
                  flush=True)
            # an optimizer passes over what has none
            model.zero_grad(set_to_none=True)


def as_prompt(tokenizer, prompt, system=None):
    """A prompt as TRL takes it: messages where the model has a template for them, else its text."""
    if not tokenizer.chat_template:
        return prompt if system is None else f"{system}\n\n{prompt}"
    user = {"role": "user", "content": prompt}
    return [{"role": "system", "content": system}, user] if system else [user]


def as_answer(tokenizer, answer):
    return [{"role": "assistant", "content": answer}] if tokenizer.chat_template else answer


def last_checkpoint(folder):
    """The newest whole checkpoint. trainer_state.json is written last, so one without it is a dead
    trainer's."""
    for path in checkpoints(folder):
        if read(path, "trainer_state.json") is not None:
            return path
        shutil.rmtree(path)
    return None


@contextlib.contextmanager
def merged(model):
    """The adapter within the weights for a while: generating takes half as long."""
    adapted = isinstance(model, PeftModel)
    if adapted:
        model.merge_adapter()
    try:
        yield
    finally:
        if adapted:
            model.unmerge_adapter()


def captures(model):
    """Whether draw() suits: a GPU is there, and every layer attends to all tokens before."""
    cache = StaticCache(config=model.config, max_cache_len=1)
    return torch.cuda.is_available() and all(type(n) is StaticLayer for n in cache.layers)


def shared_heads(module, query, key, value, attention_mask, scaling=None, **more):
    """transformers' sdpa, which under a mask copies keys and values for each head that shares
    them. The heads of one new token read them as they lie."""
    rows, heads, length, size = query.shape
    if length > 1:
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling,
                                      **more)
    out = scaled_dot_product_attention(
        query.reshape(rows, key.shape[1], -1, size), key, value, attn_mask=attention_mask,
        scale=scaling)
    return out.reshape(rows, 1, heads, size), None


AttentionInterface.register("shared_heads", shared_heads)
AttentionMaskInterface.register("shared_heads", sdpa_mask)


@torch.no_grad()
def draw(model, prompts, max_tokens, temperature, pad, ends):
    """An answer to each prompt, both lists of tokens, drawn as generate() draws them without top_k
    and top_p. One of ends (a token or a list) is the last where the model ended its answer.

    A small model's kernels are shorter than their launches, so a token is one CUDA graph. A graph
    needs buffers that stay where they are: a cache of the final length and a copy of the model, in
    half precision and with its adapter merged. On a CPU the same steps run one by one."""
    cuda = model.device.type == "cuda"
    plain = copy.deepcopy(model)
    if isinstance(plain, PeftModel):
        plain = plain.merge_and_unload()
    # accelerate's wrapper, which is for training
    vars(plain).pop("forward", None)
    plain = plain.eval().to(torch.bfloat16 if cuda else plain.dtype)
    if plain.config._attn_implementation == "sdpa":
        plain.set_attn_implementation("shared_heads")

    longest = max(map(len, prompts))
    # attention copies a mask whose rows are no multiple of 16
    size = -(-(longest + max_tokens) // 16) * 16
    ids = torch.tensor([[pad] * (longest - len(p)) + p for p in prompts], device=plain.device)
    seen = torch.tensor([[0] * (longest - len(p)) + [1] * (size - longest + len(p))
                         for p in prompts], device=plain.device)
    cache = StaticCache(config=plain.config, max_cache_len=size)
    positions = (seen.cumsum(1) - 1).clamp(min=0)
    mask = seen.bool()[:, None, None]
    mask[..., longest:] = False
    ends = [e for e in (ends if isinstance(ends, list) else [ends]) if e is not None]
    last = torch.tensor(ends, dtype=torch.long, device=plain.device)
    drawn = torch.full((len(prompts), max_tokens), pad, device=plain.device)
    place = torch.zeros(1, dtype=torch.long, device=plain.device)
    token = ids[:, -1:].clone()
    ended = torch.zeros(len(prompts), dtype=torch.bool, device=plain.device)

    def choose(logits):
        logits = logits[:, -1].float() / temperature
        # with Gumbel's noise the largest is a draw of the softmax
        best = (logits - torch.empty_like(logits).exponential_().log()).argmax(-1)
        token.copy_(best.masked_fill(ended, pad)[:, None])
        ended.logical_or_((token == last).any(1))
        drawn.index_copy_(1, place, token)
        place.add_(1)

    def step():
        mask.index_fill_(3, place + (longest - 1), True)
        choose(
            plain(input_ids=token, attention_mask=mask, past_key_values=cache,
                  position_ids=positions.index_select(1, place + (longest - 1))).logits)

    choose(
        plain(input_ids=ids, attention_mask=seen[:, :longest], past_key_values=cache,
              position_ids=positions[:, :longest], logits_to_keep=1).logits)
    for done in range(1, max_tokens):
        # asking waits for the GPU
        if done % 16 == 0 and ended.all():
            break
        if cuda and done == 1:
            # libraries take their memory in a first step, which can't be captured
            aside = torch.cuda.Stream()
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                step()
            torch.cuda.current_stream().wait_stream(aside)
            graph = torch.cuda.CUDAGraph()
        elif cuda and done == 2:
            with torch.cuda.graph(graph):
                step()
            step = graph.replay
            step()
        else:
            step()
    answers = drawn[:, :int(place)].tolist()
    return [a[:next((i + 1 for i, t in enumerate(a) if t in ends), len(a))] for a in answers]


@torch.no_grad()
def generate(model, tokenizer, prompts, max_tokens, temperature=1.0, batch=16, graph=True):
    """An answer to each prompt, which is as as_prompt() makes it; batch of them in one go."""
    model.eval()
    answers = []
    for start in range(0, len(prompts), batch):
        texts = prompts[start:start + batch]
        if tokenizer.chat_template:
            texts = [
                tokenizer.apply_chat_template(t, add_generation_prompt=True, tokenize=False)
                for t in texts]
        more = {"add_special_tokens": not tokenizer.chat_template}
        if graph and captures(model):
            ids = draw(model, tokenizer(texts, **more)["input_ids"], max_tokens, temperature,
                       tokenizer.pad_token_id, model.generation_config.eos_token_id)
        else:
            inputs = tokenizer(texts, return_tensors="pt", padding=True,
                               return_token_type_ids=False, **more).to(model.device)
            with merged(model):
                ids = model.generate(**inputs, do_sample=True, temperature=temperature, top_k=0,
                                     top_p=1.0, max_new_tokens=max_tokens,
                                     pad_token_id=tokenizer.pad_token_id)
            ids = ids[:, inputs["input_ids"].shape[1]:]
        answers += tokenizer.batch_decode(ids, skip_special_tokens=True)
    return answers


def graph_argument(parser):
    parser.add_argument("--no-graph", dest="graph", action="store_false",
                        help="generate by transformers where a CUDA graph would do")


def answer_arguments(parser):
    """Arguments of programs that ask for answers."""
    parser.add_argument("--pool", required=True, help="where answers go; opened if it is new")
    parser.add_argument("--seeded-from", metavar="POOL",
                        help="open it with the codes of this one, and draw exemplars of them for"
                        " each answer; default: plain prompts")
    parser.add_argument("--template", help="of prompts; default: the shipped one")
    parser.add_argument("--samples", type=int, default=8, help="answers to each task")
    parser.add_argument("--at-once", type=int, default=16, metavar="N",
                        help="answers that are generated together")
    parser.add_argument("--max-tokens", type=int, default=1024)
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--method", help="the name in reports, by default made of the pool's")
    graph_argument(parser)


def answer_tasks(a, model, tokenizer, path, name):
    """Answers to each task's prompts, measured: the rows of the file at path, which is written
    before anything is submitted. So a repeated call submits the same answers under the same keys,
    which adds nothing."""
    record = read(path)
    if record is None:
        query("SELECT cudal1_open_pool(%s, %s)", (a.pool, a.seeded_from))
        kind = "contrastive" if a.seeded_from else "augment"
        record = []
        for task in a.tasks or all_tasks():
            prompts = [query("SELECT prompt_id, prompt, system FROM cudal1_prompt(%s, kind => %s,"
                             " pool => %s, template => %s)", (task, kind, a.pool, a.template))[0]
                       for _ in range(a.samples if a.seeded_from else 1)]
            for i in range(a.samples):
                number, prompt, system = prompts[i % len(prompts)]
                record.append({"task": task, "prompt_id": number, "group": f"{name}/{task}",
                               "prompt": as_prompt(tokenizer, prompt, system),
                               "key": f"answer {i + 1}"})
        answers = generate(model, tokenizer, [row["prompt"] for row in record], a.max_tokens,
                           a.temperature, a.at_once, a.graph)
        for row, answer in zip(record, answers):
            row["answer"] = cudal1.clean(answer)
        write(path, record)
    candidates = cudal1.submit([r["prompt_id"] for r in record], [r["answer"] for r in record],
                               a.method, [r["group"] for r in record], [r["key"] for r in record])
    for row, candidate, reward in zip(record, candidates, cudal1.wait(candidates)):
        row.update(candidate_id=candidate, reward=reward)
    return record


def all_tasks():
    return cudal1.column("SELECT name FROM cudal1.task WHERE retired_at IS NULL ORDER BY task_id")
