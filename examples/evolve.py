#!/usr/bin/env python3
"""Evolves faster codes for tasks: a model sees the best of what there is, and proposes more.

  examples/evolve.py http://127.0.0.1:8000/v1 Qwen2.5-Coder-7B-Instruct --tasks 'kernelbench/1/%' --candidates 200

The endpoint speaks OpenAI's chat completions (vLLM, llama.cpp's server, a hosted model). The server
sends the requests and measures the answers, so this program may be stopped: the same call finds the
campaign again. psycopg finds the database as psql does (PGHOST, PGDATABASE, ...); adding a model
needs the grant of an operator.
"""
import argparse
import json
import sys
import time

# the distribution's packages, for another python3 than its own
sys.path.append("/usr/lib/python3/dist-packages")
try:
    import psycopg
except ImportError:
    sys.exit("psycopg is missing: apt install python3-psycopg, or pip install 'psycopg[binary]'")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("endpoint", help="base address, as http://HOST:PORT/v1 or unix:/path/of/socket:/v1")
    parser.add_argument("model", help="the model's name there")
    parser.add_argument("--tasks", default="%", help="names of tasks, as a LIKE pattern (default: all)")
    parser.add_argument("--candidates", type=int, default=100, help="ends after so many answers (100)")
    parser.add_argument("--name", default="evolve example", help="the campaign's name")
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--key", help="name of the endpoint's key in the server's cudal1.key_file")
    parser.add_argument("--every", type=float, default=10, help="seconds between two lines of progress (10)")
    return parser.parse_args()


def start(database, asked):
    """The campaign, unless an earlier call has added it."""
    tasks = [name for name, in database.execute(
        "SELECT name FROM cudal1.task WHERE name LIKE %s AND retired_at IS NULL ORDER BY name", [asked.tasks])]
    there = database.execute(
        "SELECT (c.options ->> 'max_candidates')::int, m.endpoint, m.model, (m.parameters ->> 'temperature')::float8,"
        " array_agg(DISTINCT t.name::text) FROM cudal1.campaign AS c JOIN cudal1.campaign_lane AS l USING (campaign_id)"
        " JOIN cudal1.model AS m USING (model_id) JOIN cudal1.task AS t ON t.task_id = l.task_id WHERE c.name = %s"
        " GROUP BY c.campaign_id, m.model_id", [asked.name]).fetchone()
    if there:
        print(f"campaign {asked.name} is there already")
        wanted = (asked.candidates, asked.endpoint, asked.model, asked.temperature, tasks)
        for what, has, given in zip(("candidates", "endpoint", "model", "temperature", "tasks"), there, wanted):
            if given != (sorted(has) if what == "tasks" else has):
                print(f"  it keeps its own {what}: {', '.join(has) if what == 'tasks' else has}; --name begins another campaign")
        return
    if not tasks:
        sys.exit(f"no task is like '{asked.tasks}': cudal1-import brings in KernelBench's, and demo/tasks")
    database.execute(
        "SELECT cudal1_add_model(%s, %s, %s, key_name => %s, parameters => %s)",
        [asked.name, asked.endpoint, asked.model, asked.key, json.dumps({"temperature": asked.temperature})])
    database.execute(
        "SELECT cudal1_add_campaign(%s, 'evolve', models => %s, tasks => %s, options => %s)",
        [asked.name, [asked.name], tasks, json.dumps({"max_candidates": asked.candidates, "method": asked.name})])
    print(f"campaign {asked.name} begins with {len(tasks)} task(s)")


def follow(database, asked):
    """A line of progress now and then, until the campaign ends."""
    while True:
        state, note, trials, in_flight, measuring, best, left, error = database.execute(
            "SELECT p.state, p.note, p.trials, p.in_flight, p.measuring, p.best, p.seconds_left, u.last_error"
            " FROM cudal1.campaign_progress AS p LEFT JOIN cudal1.model_use AS u USING (name)"
            " WHERE p.name = %s", [asked.name]).fetchone()
        print(f"{trials} asked for, {in_flight} being written, {measuring} being measured, best {f'{best:.2f}' if best else '-'}"
              + (f", {left / 60:.1f} min left" if left else "") + (f"; the last error: {error}" if error else ""),
              flush=True)
        if state != "running":
            print(f"{state}: {note}" if note else state)
            if state == "paused":
                print(f"once that is mended, SELECT cudal1_resume_campaign('{asked.name}') lets it go on")
            return
        time.sleep(asked.every)


def main():
    asked = arguments()
    with psycopg.connect(autocommit=True, client_encoding="utf8") as database:
        database.add_notice_handler(lambda notice: print(f"{notice.severity}: {notice.message_primary}", file=sys.stderr))
        start(database, asked)
        follow(database, asked)
        best = database.execute(
            "SELECT DISTINCT ON (t.name) t.name, c.reward, c.candidate_id FROM cudal1.proposal AS p"
            " JOIN cudal1.candidate AS c USING (candidate_id) JOIN cudal1.task AS t ON t.task_id = p.task_id"
            " WHERE p.method = %s AND c.state = 'successful' ORDER BY t.name, c.reward DESC",
            [asked.name]).fetchall()
        if best:
            print("\nthe best code of each task, which `cudal1 show ID` prints and `cudal1 best --save DIR` writes to a file:")
        for task, reward, candidate in best:
            print(f"  {task}: {reward:.2f}x (candidate {candidate})")
        failed = database.execute(
            "SELECT c.failure, count(*), min(c.candidate_id) FROM cudal1.proposal AS p JOIN cudal1.candidate AS c USING (candidate_id)"
            " WHERE p.method = %s AND c.state = 'failed' GROUP BY 1 ORDER BY 2 DESC", [asked.name]).fetchall()
        if failed:
            print("\nanswers that failed, with a candidate whose reason `cudal1 show ID` prints:")
        for failure, number, candidate in failed:
            print(f"  {number} {failure} (candidate {candidate})")


if __name__ == "__main__":
    try:
        main()
    except psycopg.Error as e:
        # adding a model is an operator's, the rest a trainer's
        helps = {"42501": "The role needs the grants operator and trainer: SELECT cudal1_grant('ROLE', 'operator'), cudal1_grant('ROLE', 'trainer').",
                 "42P01": "Does the database have cudal1? CREATE EXTENSION cudal1, or name another by PGDATABASE."}
        if not e.diag.message_primary:
            sys.exit(f"evolve.py: {e}")
        sys.exit(f"evolve.py: {e.diag.message_primary}. {e.diag.message_hint or helps.get(e.sqlstate, '')}".strip())
