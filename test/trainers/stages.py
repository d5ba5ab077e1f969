"""Two steps of each stage of examples/train with a tiny model, and trainers that die at many
places.

  stages.py DIRECTORY OF examples/train  FOLDER

CUDAL1_DSN as there; a worker must measure the task "task".

Everything is imported once, and each program is a child of this process. Prints one JSON object.
"""
import json
import math
import os
import signal
import sys

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", CUDA_VISIBLE_DEVICES="",
                  TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1", TRL_EXPERIMENTAL_SILENCE="1")
sys.dont_write_bytecode = True
EXAMPLES, FOLDER = sys.argv[1:3]
sys.path.insert(0, EXAMPLES)

import common  # noqa: E402
import evaluate  # noqa: E402
import grpo  # noqa: E402
import model  # noqa: E402
import self_supervised  # noqa: E402
import sft  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
import trl  # noqa: E402

LOOP = [
    "--output", f"{FOLDER}/grpo", "--pool", "run", "--seeded-from", "main", "--strategy", "bucket",
    "--tasks", "task", "--steps", "2", "--prompts", "2", "--plain", "1", "--answers", "4",
    "--micro-batch", "4", "--max-tokens", "8", "--lora", "2", "--model", f"{FOLDER}/model",
    "--learning-rate", "1e-3"]


def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


def capturing():
    """A CPU captures nothing, and runs the same steps one by one."""
    common.captures = grpo.captures = lambda model: True


def before(owner, name):
    def arrange():
        setattr(owner, name, die)

    return arrange


def after(owner, name, times=1):
    def arrange():
        inner, left = getattr(owner, name), [times]

        def outer(*words, **named):
            result = inner(*words, **named)
            left[0] -= 1
            return result if left[0] else die()

        setattr(owner, name, outer)

    return arrange


def infinite():
    """The gradient of a trainer's first step is not finite."""
    inner, left = trl.SFTTrainer.compute_loss, [1]

    def outer(*words, **named):
        left[0] -= 1
        return inner(*words, **named) * (float("nan") if left[0] == 0 else 1)

    trl.SFTTrainer.compute_loss = outer


def weights(folder):
    some = transformers.AutoModelForCausalLM.from_pretrained(folder)
    return torch.cat([w.flatten() for w in some.parameters()])


def child(program, words, arrange=lambda: None):
    """The exit status of a program, negative for a signal; what it says goes to a log."""
    pid = os.fork()
    if pid == 0:
        log = os.open(f"{FOLDER}/log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        sys.argv = [program.__name__, *words]
        status = 1
        try:
            arrange()
            program.main()
            status = 0
        except SystemExit as e:
            print(e)
        except BaseException:
            import traceback
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def in_child(function):
    """What a function returns that changes the programs for good, from a child of this process."""
    there, here = os.pipe()
    pid = os.fork()
    if pid == 0:
        result = None
        try:
            log = os.open(f"{FOLDER}/log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(log, 1)
            os.dup2(log, 2)
            result = function()
        except BaseException:
            import traceback
            traceback.print_exc()
        os.write(here, json.dumps(result).encode())
        os._exit(0)
    os.close(here)
    with os.fdopen(there) as result:
        found = json.load(result)
    os.waitpid(pid, 0)
    return found


# places in a trainer's life, in the order in which it comes by them
PLACES = {
    "before the campaign": before(grpo, "begin"),
    "after the campaign": after(grpo, "begin"),
    "before a group": before(grpo.ContrastiveTrainer, "_draw"),
    "a group drawn": after(grpo.ContrastiveTrainer, "_draw"),
    "groups written down": after(grpo, "write"),
    "answers generated": after(trl.GRPOTrainer, "_generate_single_turn"),
    "answers written down": after(grpo, "write", 2),
    "answers being measured": before(grpo.cudal1, "wait"),
    "answers measured": after(grpo.cudal1, "wait"),
    "a step taken": before(transformers.Trainer, "_save_checkpoint"),
    "half a checkpoint": before(transformers.Trainer, "_save_rng_state"),
    "a checkpoint": after(transformers.Trainer, "_save_checkpoint"), }


def alike():
    """How many answers of draw() are those of generate() where each takes the likeliest token, to
    prompts of different lengths."""
    torch.manual_seed(1)
    some = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(vocab_size=97, hidden_size=32, intermediate_size=64,
                                 num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                                 initializer_range=0.3, eos_token_id=[5, 6], pad_token_id=0)).eval()
    prompts = [torch.randint(7, 97, (n,)).tolist() for n in (9, 1, 4, 30, 17, 2)]
    drawn = common.draw(some, prompts, 40, 1e-5, 0, [5, 6])
    wanted = [
        some.generate(torch.tensor([p]), do_sample=False, max_new_tokens=40)[0, len(p):].tolist()
        for p in prompts]
    return sum(d == w for d, w in zip(drawn, wanted))


def paper_loss():
    """How far TRL's loss is from CUDA-L1's eq. 5 by grpo.py --paper, over answers of different
    lengths, with a clip that acts."""
    asked, inner = [], grpo.GRPOConfig

    def noting(**settings):
        asked.append(settings)
        return inner(**settings)

    def stop(*_, **__):
        raise StopIteration

    grpo.GRPOConfig, grpo.begin, grpo.ContrastiveTrainer.train = noting, lambda a: None, stop
    try:
        grpo.main([*LOOP, "--paper", "--clip", "0.1", "--smooth", "1.5", "--output",
                   f"{FOLDER}/paper"])
    except StopIteration:
        pass
    config = {k: asked[0][k] for k in ("loss_type", "beta", "epsilon", "scale_rewards")}
    torch.manual_seed(1)
    lengths, width = [3, 7, 5, 7], 7
    mask = torch.tensor([[int(i < n) for i in range(width)] for n in lengths])
    now, old, first = (torch.randn(4, width) * scale - 3 for scale in (0.5, 0.4, 0.3))
    gains = torch.tensor([1.2, -0.4, 0.3, -1.1])
    tiny = transformers.AutoModelForCausalLM.from_pretrained(f"{FOLDER}/model")
    made = inner(**asked[0] | {"output_dir": f"{FOLDER}/paper", "gradient_accumulation_steps": 1,
                               "report_to": []})
    trainer = trl.GRPOTrainer(
        model=tiny, reward_funcs=lambda **_: [], args=made,
        train_dataset=grpo.Dataset.from_list([{"prompt": "x"}]),
        processing_class=transformers.AutoTokenizer.from_pretrained(f"{FOLDER}/model"))
    trainer._get_per_token_logps_and_entropies = lambda *_, **__: (
        now, torch.zeros_like(now), None)
    trainer.current_gradient_accumulation_steps = 1
    ids = torch.ones(4, width, dtype=torch.long)
    loss = trainer._compute_loss(tiny, {
        "prompt_ids": ids, "prompt_mask": ids, "completion_ids": ids, "completion_mask": mask,
        "advantages": gains, "old_per_token_logps": old, "ref_per_token_logps": first,
        "num_items_in_batch": mask.sum()})
    wanted = 0.0
    for i, n in enumerate(lengths):
        for t in range(n):
            ratio = math.exp(now[i, t] - old[i, t])
            apart = first[i, t].item() - now[i, t].item()
            term = min(ratio * gains[i].item(),
                       max(min(ratio, 1 + made.epsilon), 1 - made.epsilon) * gains[i].item())
            wanted -= (term - made.beta * (math.exp(apart) - apart - 1)) / n / len(lengths)
    return config, abs(loss.item() - wanted)


found = {"trl": trl.__version__, "torch": torch.__version__, "alike": alike()}
plain = ["--tasks", "task", "--samples", "2", "--max-tokens", "8", "--micro-batch", "2"]
found["model"] = child(
    model, ["tiny", f"{FOLDER}/model", "--width", "32", "--layers", "1", "--vocabulary", "300"])
found["sft"] = child(sft, [
    "--model", f"{FOLDER}/model", "--output", f"{FOLDER}/sft", "--steps", "2", "--micro-batch", "2",
    "--batch", "2"])
found["not finite"] = child(sft, [
    "--model", f"{FOLDER}/model", "--output", f"{FOLDER}/left-out", "--steps", "2", "--micro-batch",
    "2", "--batch", "2"], infinite)
found["finite"] = bool(weights(f"{FOLDER}/left-out").isfinite().all())
found["trained"] = not torch.equal(weights(f"{FOLDER}/left-out"), weights(f"{FOLDER}/model"))
found["self_supervised"] = child(self_supervised, [
    "--model", f"{FOLDER}/sft", "--output", f"{FOLDER}/self", "--pool", "self", "--rounds", "2",
    *plain])
found["evaluate"] = child(evaluate, [
    "--model", f"{FOLDER}/self/round-2", "--output", f"{FOLDER}/evaluate", "--pool", "evaluate",
    "--seeded-from", "main", *plain], capturing)
found["killed"] = {place: child(grpo, LOOP, arrange) for place, arrange in PLACES.items()}
found["grpo"] = child(grpo, LOOP, capturing)
found["again"] = child(grpo, LOOP)
history = [
    row for row in common.read(f"{FOLDER}/grpo/checkpoint-2/trainer_state.json")["log_history"]
    if "reward" in row]
found["steps"] = [row["step"] for row in history]
found["figures"] = sorted(
    set(history[-1]) & {
        "outcome/malformed", "device_seconds", "exemplars/best", "answers/distinct", "entropy",
        "frac_reward_zero_std"})
found["paper"] = in_child(paper_loss)
found["adapter"] = os.path.exists(f"{FOLDER}/grpo/adapter_config.json")
print(json.dumps(found))
