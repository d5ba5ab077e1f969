"""What the three stages share: models, prompts as a model reads them, answers and their rewards,
checkpoints.

The connection is that of examples/rewards.py: CUDAL1_DSN, by default libpq's environment.
"""
import contextlib
import importlib.util
import os
import shutil
import sys

from needs import ALL, need

need(*ALL)
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import rewards  # noqa: E402
import torch  # noqa: E402
from peft import LoraConfig, PeftModel, get_peft_model  # noqa: E402
from records import checkpoints, read, write  # noqa: E402
from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: E402

query = rewards.query


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


def as_prompt(tokenizer, prompt, system=None):
    """A prompt as TRL takes it: messages where the model has a template for them, else its text."""
    if not tokenizer.chat_template:
        return prompt if system is None else f"{system}\n\n{prompt}"
    return ([{"role": "system", "content": system}] if system else []) + [{
        "role": "user", "content": prompt}]


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


@torch.no_grad()
def generate(model, tokenizer, prompts, max_tokens, temperature=1.0, batch=16):
    """An answer to each prompt, which is as as_prompt() makes it; batch of them in one go."""
    model.eval()
    answers = []
    for start in range(0, len(prompts), batch):
        texts = prompts[start:start + batch]
        if tokenizer.chat_template:
            texts = [
                tokenizer.apply_chat_template(t, add_generation_prompt=True, tokenize=False)
                for t in texts]
        inputs = tokenizer(texts, return_tensors="pt", padding=True, return_token_type_ids=False,
                           add_special_tokens=not tokenizer.chat_template).to(model.device)
        with merged(model):
            ids = model.generate(**inputs, do_sample=True, temperature=temperature, top_k=0,
                                 top_p=1.0, max_new_tokens=max_tokens,
                                 pad_token_id=tokenizer.pad_token_id)
        answers += tokenizer.batch_decode(ids[:, inputs["input_ids"].shape[1]:],
                                          skip_special_tokens=True)
    return answers


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
            prompts = [
                query("SELECT prompt_id, prompt, system FROM cudal1_prompt(%s, kind => %s,"
                      " pool => %s, template => %s)", (task, kind, a.pool, a.template))[0]
                for _ in range(a.samples if a.seeded_from else 1)]
            for i in range(a.samples):
                number, prompt, system = prompts[i % len(prompts)]
                record.append({
                    "task": task, "prompt_id": number,
                    "prompt": as_prompt(tokenizer, prompt, system), "group": f"{name}/{task}",
                    "key": f"answer {i + 1}"})
        answers = generate(model, tokenizer, [row["prompt"] for row in record], a.max_tokens,
                           a.temperature, a.at_once)
        for row, answer in zip(record, answers):
            row["answer"] = rewards.clean(answer)
        write(path, record)
    candidates = rewards.submit([r["prompt_id"] for r in record], [r["answer"] for r in record],
                                a.method, [r["group"] for r in record], [r["key"] for r in record])
    for row, candidate, reward in zip(record, candidates, rewards.wait(candidates)):
        row.update(candidate_id=candidate, reward=reward)
    return record


def all_tasks():
    return [
        name for name, in query(
            "SELECT name FROM cudal1.task WHERE retired_at IS NULL ORDER BY task_id", ())]
