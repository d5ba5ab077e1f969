#!/usr/bin/env python3
"""Stage 3: contrastive GRPO. Each step's prompts are drawn when it begins, with exemplars of the
run's own pool.

  grpo.py --model MODEL --output FOLDER --pool run-1 [--strategy bucket|island|random|none] ...

--strategy none is GRPO without comparison: prompts show the reference alone. --plain N has some of
these beside others. The pool is opened, and the campaigns "grpo POOL" and "grpo POOL plain" are
added, if they are new. A trainer that was killed goes on from its last checkpoint. A step is
written down in FOLDER/steps before its answers are submitted, so that one which is repeated
submits the same answers to the same groups. The database refuses a second answer to a group, and
so none is lost or counted twice.
"""
import argparse
import os

from common import (FiniteSteps, arguments, as_prompt, captures, draw, graph_argument,
                    last_checkpoint, load, merged, precision, query, read, reports, write)
import cudal1
from accelerate import PartialState
from datasets import Dataset
from cudal1.trl import text_of
from psycopg.types.json import Jsonb
from trl import GRPOConfig, GRPOTrainer

FAILURES = ("malformed", "compile_error", "launch_failure", "timeout", "crash", "wrong_output",
            "cheat")


def begin(a):
    """The pool and the campaigns of the run; what it began with holds."""
    query("SELECT cudal1_open_pool(%s, %s)", (a.pool, a.seeded_from))
    options = {"method": a.method or f"grpo: {a.pool}", "group_size": a.answers,
               "failures": a.failures, "profile": a.profile}
    shown = {"template": a.template, "exemplars": 0 if a.strategy == "none" else a.exemplars}
    if a.strategy != "none":
        shown["strategy"] = a.strategy
    found = {f"grpo {a.pool}": options | shown}
    if a.plain:
        found[f"grpo {a.pool} plain"] = options | {"template": a.plain_template, "exemplars": 0}
    for name, some in found.items():
        some = Jsonb(some)
        if not query("SELECT FROM cudal1.campaign WHERE name = %s", (name,)):
            query("SELECT cudal1_add_campaign(%s, 'contrastive', tasks => %s, options => %s,"
                  " pool => %s)", (name, a.tasks, some, a.pool))
        elif not query("SELECT FROM cudal1.campaign WHERE name = %s AND options @> %s",
                       (name, some)):
            raise SystemExit(f'campaign "{name}" began with other options: use another pool')


class ContrastiveTrainer(GRPOTrainer):
    """A GRPOTrainer whose data set only says how many prompts a step has: they are drawn as the
    step begins."""
    def __init__(self, campaign, plain, graph, smooth, **settings):
        super().__init__(**settings)
        self.smooth = smooth
        self.campaign = campaign
        self.plain = plain
        self.graph = graph

    def _path(self, step):
        return os.path.join(self.args.output_dir, "steps",
                            f"{step}-{self.accelerator.process_index}.json")

    def _generate_and_score_completions(self, inputs):
        step = self.state.global_step
        self.record = read(self._path(step))
        if self.record is None or self.record["campaign"] != self.campaign:
            n = len(inputs) // self.num_generations
            groups = [self._draw(self.campaign + " plain" * (i < self.plain)) for i in range(n)]
            self.record = {"campaign": self.campaign, "groups": groups}
            write(self._path(step), self.record)
        # a checkpoint that is not older than these steps exists
        old = self._path(step - 3 * int(self.args.save_steps))
        if os.path.exists(old):
            os.unlink(old)
        prompts = [(g["group_key"], g["prompt_id"],
                    as_prompt(self.processing_class, g["prompt"], g["system"]))
                   for g in self.record["groups"] for _ in range(self.num_generations)]
        scored = super()._generate_and_score_completions(
            [{"prompt": prompt, "group_key": key, "prompt_id": number}
             for key, number, prompt in prompts])
        if self.smooth is not None:
            scored["advantages"] = scored["advantages"].clamp(-self.smooth, self.smooth)
        return scored

    def _draw(self, campaign):
        rows = query(
            "SELECT group_key, prompt_id, prompt, system, now()::text FROM cudal1_next_group(%s)",
            (campaign,))
        if not rows:
            raise SystemExit(f'campaign "{campaign}" hands out no group:'
                             " cudal1.campaign_progress says why")
        return dict(zip(("group_key", "prompt_id", "prompt", "system", "since"), rows[0]))

    def _generate_single_turn(self, prompt_ids, *more, **settings):
        if "completion_ids" not in self.record:
            model, logprobs = self.accelerator.unwrap_model(self.model), None
            if self.graph and captures(model):
                ids = draw(model, prompt_ids, self.args.max_completion_length,
                           self.args.temperature, self.processing_class.pad_token_id,
                           self.eos_token_ids)
            else:
                with merged(model):
                    ids, logprobs = super()._generate_single_turn(prompt_ids, *more, **settings)
            self.record.update(completion_ids=ids, logprobs=logprobs)
            write(self._path(self.state.global_step), self.record)
        return self.record["completion_ids"], self.record["logprobs"]

    def measured_speedup(self, completions, group_key, prompt_id, log_metric, **_):
        """The reward function: answers go to their groups, and what is measured of them comes
        back."""
        texts = [cudal1.clean(text_of(c)) for c in completions]
        candidates = []
        for key in dict.fromkeys(group_key):
            candidates += cudal1.column(
                "SELECT candidate_id FROM cudal1_answer_group(%s, %s) ORDER BY ordinal",
                (key, [t for t, k in zip(texts, group_key) if k == key]))
        found = cudal1.wait(candidates)
        for name, value in self._figures(candidates, found, list(dict.fromkeys(prompt_id))).items():
            log_metric(name, value)
        return found

    def _figures(self, candidates, found, prompts):
        """What is logged beside what TRL logs."""
        outcome = dict(query("SELECT candidate_id, coalesce(failure, state) FROM cudal1.candidate"
                             " WHERE candidate_id = ANY (%s)", (candidates,)))
        counts = [outcome[c] for c in candidates]
        figures = {f"outcome/{name}": counts.count(name) / len(counts)
                   for name in ("successful",) + FAILURES}
        figures["outcome/no_verdict"] = sum(r is None for r in found) / len(found)
        right = [r for r in found if r]
        if right:
            figures.update({"speedup/mean": sum(right) / len(right), "speedup/best": max(right)})
        figures["answers/distinct"] = len(set(candidates)) / len(candidates)
        figures["device_seconds"], = cudal1.column(
            "SELECT coalesce(sum(device_seconds), 0) FROM cudal1.measurement"
            " WHERE candidate_id = ANY (%s) AND measured_at >= %s::timestamptz",
            (candidates, self.record["groups"][0]["since"]))
        shown = cudal1.column(
            "SELECT c.reward FROM cudal1.prompt AS p, unnest(p.exemplars) AS e (id)"
            " JOIN cudal1.candidate AS c ON c.candidate_id = e.id"
            " WHERE p.prompt_id = ANY (%s) AND c.reward IS NOT NULL", (prompts,))
        if shown:
            figures |= {"exemplars/mean": sum(shown) / len(shown), "exemplars/best": max(shown)}
        return figures


def trainer(a):
    world = PartialState()
    if world.is_main_process:
        begin(a)
    world.wait_for_everyone()
    model, tokenizer = load(a.model, a.lora)
    local, rest = divmod(a.prompts, world.num_processes)
    plain, rest_of_plain = divmod(a.plain, world.num_processes)
    if rest or rest_of_plain or not 0 <= plain <= local or local * a.answers % a.micro_batch:
        raise SystemExit("--prompts and --plain, which are among them, must be multiples of the"
                         " processes, a process's answers of --micro-batch")

    # TRL takes a function, and what it needs belongs to the trainer
    def speedup(**given):
        return made.measured_speedup(**given)

    made = ContrastiveTrainer(
        campaign=f"grpo {a.pool}", plain=plain, graph=a.graph and not a.vllm,
        smooth=a.smooth, model=model,
        processing_class=tokenizer, reward_funcs=speedup, callbacks=[FiniteSteps()],
        train_dataset=Dataset.from_list(
            [{"prompt": as_prompt(tokenizer, "drawn later")}] * (a.prompts * a.steps)),
        args=GRPOConfig(output_dir=a.output, max_steps=a.steps, num_generations=a.answers,
                        per_device_train_batch_size=a.micro_batch,
                        gradient_accumulation_steps=local * a.answers // a.micro_batch,
                        max_completion_length=a.max_tokens, temperature=a.temperature,
                        learning_rate=a.learning_rate, lr_scheduler_type="constant", beta=a.beta,
                        scale_rewards=a.scale_rewards, loss_type=a.loss, epsilon=a.clip,
                        use_bias_correction_kl=not a.paper, num_iterations=a.iterations,
                        use_vllm=a.vllm,
                        logging_steps=1, report_to=reports(), log_completions=False,
                        save_strategy="steps", save_steps=a.save_every, save_total_limit=2,
                        ignore_data_skip=True, seed=a.seed, disable_tqdm=True,
                        gradient_checkpointing=a.gradient_checkpointing, **precision()))
    return made


def main(words=None):
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments(p)
    p.add_argument("--pool", required=True, help="the run: its exemplars and its answers")
    p.add_argument("--seeded-from", metavar="POOL", help="begin with the codes of this pool")
    p.add_argument("--strategy", choices=("bucket", "island", "random", "none"), default="bucket")
    p.add_argument("--exemplars", type=int, default=2)
    p.add_argument("--failures", type=int, default=0,
                   help="failed attempts in a prompt, with their reasons")
    p.add_argument("--template", help="of prompts; default: the shipped one")
    p.add_argument("--plain", type=int, default=0, metavar="N",
                   help="of a step's prompts, so many are without exemplars: answers to such ones"
                   " get worse where they are not trained on")
    p.add_argument("--plain-template", metavar="TEMPLATE", help="of these")
    p.add_argument("--profile",
                   help="with which answers are measured; default: the task's, else train")
    p.add_argument("--steps", type=int, default=30)
    p.add_argument("--prompts", type=int, default=16, help="prompts in a step")
    p.add_argument("--answers", type=int, default=8, help="answers to a prompt: the group")
    p.add_argument("--max-tokens", type=int, default=1024)
    p.add_argument("--temperature", type=float, default=1.0)
    p.add_argument("--paper", action="store_true",
                   help="CUDA-L1's eq. 4 and 5: --loss grpo --beta 0.04 --clip 0.2 --scale-rewards"
                   " group, where the line doesn't say otherwise (the paper has no values; these"
                   " are DeepSeekMath's)")
    p.add_argument("--beta", type=float, default=0.0,
                   help="weight of the divergence from the first model")
    p.add_argument("--clip", type=float, default=0.2, metavar="EPSILON",
                   help="of the ratio to the model that answered; nothing to clip unless"
                   " --iterations is above 1")
    p.add_argument("--iterations", type=int, default=1, help="optimizer's steps on each answer")
    p.add_argument("--scale-rewards", choices=("group", "batch", "none"), default="group")
    p.add_argument("--smooth", type=float, metavar="K",
                   help="cut normalized rewards at -K and K (2.4.6; the paper's K is 1.5)")
    p.add_argument("--loss", default="dapo", help="TRL's loss_type: grpo, dapo, dr_grpo, ...")
    p.add_argument("--save-every", type=int, default=1, metavar="STEPS")
    p.add_argument("--gradient-checkpointing", action="store_true")
    p.add_argument("--vllm", action="store_true", help="generate with vLLM")
    graph_argument(p)
    p.add_argument("--method", help="the name in reports, default: grpo: POOL")
    if p.parse_known_args(words)[0].paper:
        p.set_defaults(loss="grpo", beta=0.04, clip=0.2, scale_rewards="group")
    a = p.parse_args(words)
    made = trainer(a)
    made.train(resume_from_checkpoint=last_checkpoint(a.output))
    made.save_model(a.output)
    made.save_state()


if __name__ == "__main__":
    main()
