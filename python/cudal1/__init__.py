"""Rewards for trainers: prompts from a cudal1 database, answers into it, measured speedups back.

    import cudal1, cudal1.trl
    rows = cudal1.prompts(["softmax"])                      # for a data set
    trl.GRPOTrainer(reward_funcs=cudal1.trl.speedup_reward, ...)

A prompt is made by the database and carries its id. An answer is submitted under that id. Its
reward is the measured speedup over the reference, 0 for code that fails, and None where nothing
could be measured.

    CUDAL1_DSN      connection string, default "": libpq's environment (PGHOST, PGDATABASE, ...)
    CUDAL1_METHOD   the method that reports print, default "grpo"

The role needs `SELECT cudal1_grant('trainer_role', 'trainer')`. The logger "cudal1" has a line a
batch at level INFO, and warnings.
"""
from cudal1.client import (Verdict, clean, column, connection, prompts, query, rate, submit,
                           verdicts, wait)
from cudal1.measuring import measure

__all__ = ["Verdict", "clean", "column", "connection", "measure", "prompts", "query", "rate",
           "submit", "verdicts", "wait"]
__version__ = "0.1.0"
