"""All that a report shows of a database, as lists of rows by name."""
import math

FAILURES = ["malformed", "compile_error", "launch_failure", "timeout", "crash", "wrong_output",
            "cheat", "withdrawn", "reported"]
CODES_SHOWN = 1500
CODE_SHOWN = 20000
SERIES = 7
PARTS = 40


class Figures:
    """Reads the figures that the options of cudal1-report choose into `data`."""

    def __init__(self, db, options):
        self.db, self.home, self.literal = db, db.home, db.literal
        self.data = {}
        self.convention = options.missing
        self.method, self.device = db.literal(options.method), db.literal(options.device)
        self.missing, self.weak = db.literal(options.missing), db.literal(options.without_weak)
        self.chosen = f"tasks => {db.literal(options.tasks)}, pool => {db.literal(options.pool)}"
        self.where = f"method => {self.method}, device => {self.device}, {self.chosen}"
        self.pool = f"o.name = coalesce({db.literal(options.pool)}, o.name)"

    def fetch(self, name, query):
        self.data[name] = self.db.rows(query)

    def call(self, name, function, arguments):
        self.fetch(name, f"SELECT * FROM {self.home}.{function}({arguments})")

    def summaries(self):
        """Of levels, methods and devices."""
        for kind, of in (("level", self.where),
                         ("method", f"device => {self.device}, {self.chosen}"),
                         ("device", f"method => {self.method}, {self.chosen}")):
            name, function = kind + "s", f"cudal1_{kind}_report"
            of += f", without_weak => {self.weak}"
            self.call(name, function, f"{of}, missing => {self.missing}")
            if self.convention == "zero":
                # one task that counts 0 makes a geometric mean 0, so that one is of the solved
                self.call("solved", function, f"{of}, missing => 'drop'")
                means = {(r["level"], r[kind]): r["geometric_mean"]
                         for r in self.data.pop("solved")}
                for r in self.data[name]:
                    r["geometric_mean"] = means.get((r["level"], r[kind]))

    def speedups(self):
        """Of tasks: their distribution and each task's own."""
        self.call("tasks", "cudal1_top_tasks",
                  f"1000000, {self.where}, without_weak => {self.weak}")
        self.call("percentiles", "cudal1_percentiles", f"{self.where}, missing => {self.missing}")
        self.call("fast", "cudal1_fast_p",
                  f"{self.where}, p => '{{0.5,0.8,1,1.5,2,5,10}}', missing => {self.missing}")
        # bins from a power of the root of 2 to the next
        self.call("histogram", "cudal1_speedup_histogram",
                  f"{self.where}, width => {math.log(2) / 2}, without_weak => {self.weak}")
        self.call("every", "cudal1_task_report", self.where)
        shown = self.literal(sorted({r["task"] for r in self.data["every"]}))
        # of proposals p those of the tasks, the method and the pool that were asked for
        self.asked = f"""p.method = coalesce({self.method}, p.method)
            AND p.pool_id IN (SELECT o.pool_id FROM cudal1.pool AS o WHERE {self.pool})
            AND p.task_id IN (SELECT t.task_id FROM cudal1.task AS t
                              WHERE t.name = ANY ({shown}::text[]))"""
        methods = sorted({r["method"] for r in self.data["methods"]})
        self.data["curves"] = [
            dict(r, method=m) for m in [None] + methods[:SERIES] for r in self.db.rows(
                f"SELECT task, speedup FROM {self.home}.cudal1_top_tasks(1000000,"
                f" {self.literal(m)}, {self.device}, {self.weak}, {self.chosen})")]

    def progress(self):
        """The best so far of each task by each method, whenever it became better."""
        self.fetch("progress", f"""
            SELECT x.method, t.name AS task, extract(epoch FROM x.decided_at) AS at, x.reward
            FROM (SELECT q.method, c.task_id, c.decided_at, c.reward, c.candidate_id,
                         max(c.reward) OVER (
                             PARTITION BY q.method, c.task_id
                             ORDER BY c.decided_at, c.candidate_id
                             ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
                  FROM (SELECT DISTINCT p.candidate_id, p.method FROM cudal1.proposal AS p
                        WHERE {self.asked}) AS q
                      JOIN cudal1.candidate AS c ON c.candidate_id = q.candidate_id
                  WHERE c.state = 'successful' AND c.purpose = 'normal' AND NOT c.imported) AS x
                JOIN cudal1.task AS t ON t.task_id = x.task_id AND t.retired_at IS NULL
            WHERE x.before IS NULL OR x.reward > x.before
            ORDER BY x.decided_at, x.candidate_id""")

    def trust(self):
        """How far the measurements can be trusted: noise, control charts, drift."""
        self.fetch("noise", """
            SELECT m.candidate_seconds AS seconds, ln(m.upper / m.lower) / 2 AS half,
                   t.name AS task
            FROM cudal1.measurement AS m JOIN cudal1.task AS t ON t.task_id = m.task_id
            WHERE m.lower > 0 AND m.upper > m.lower AND m.candidate_seconds > 0
            ORDER BY m.measurement_id DESC LIMIT 2000""")
        self.fetch("charts", """
            SELECT device, extract(epoch FROM measured_at) AS at, deviation, mean, mean_limit,
                   score, task
            FROM cudal1.aa_chart ORDER BY device, measurement_id""")
        self.fetch("drift", """
            SELECT task, device, candidate_id, extract(epoch FROM after) AS after, previous_score,
                   score, change, changed, differs
            FROM cudal1.drift ORDER BY changed IS NOT TRUE, measured_at DESC LIMIT 20""")
        self.fetch("drifted", "SELECT count(*) AS all, count(*) FILTER (WHERE changed) AS changed"
                   " FROM cudal1.drift")
        self.fetch("hardware", "SELECT * FROM cudal1.stat_device ORDER BY device")

    def proposals(self):
        """What became of them, and the curves of training."""
        reasons = ", ".join(f"count(*) FILTER (WHERE c.failure = '{f}') AS {f}" for f in FAILURES)
        self.fetch("outcomes", f"""
            SELECT p.method, count(*) AS proposals,
                   count(*) FILTER (WHERE c.state = 'successful') AS successful,
                   count(*) FILTER (WHERE c.reward > 1) AS faster, {reasons},
                   count(*) FILTER (WHERE c.state = 'discarded') AS discarded
            FROM cudal1.proposal AS p
                JOIN cudal1.candidate AS c ON c.candidate_id = p.candidate_id
            WHERE {self.asked}
            GROUP BY p.method ORDER BY count(*) DESC, p.method""")
        # the groups of each campaign in the order of their answers, in at most so many parts
        self.fetch("training", f"""
            WITH answered AS (
                SELECT k.name AS campaign, g.group_id,
                       dense_rank() OVER (PARTITION BY k.campaign_id
                                          ORDER BY g.answered_at, g.group_id) AS place,
                       c.reward
                FROM cudal1.campaign_group AS g
                    JOIN cudal1.campaign_lane AS l ON l.lane_id = g.lane_id
                    JOIN cudal1.campaign AS k ON k.campaign_id = l.campaign_id
                    JOIN cudal1.proposal AS p ON p.group_key = g.group_key
                        AND p.created_by = k.created_by AND p.prompt_id = g.prompt_id
                    JOIN cudal1.candidate AS c ON c.candidate_id = p.candidate_id
                WHERE g.answered_at IS NOT NULL AND c.reward IS NOT NULL AND {self.asked}),
            parts AS (
                SELECT a.*, (a.place - 1) * {PARTS}
                           / greatest({PARTS}, max(a.place) OVER (PARTITION BY a.campaign)) AS part
                FROM answered AS a)
            SELECT campaign, max(place) AS groups, count(*) AS answers, avg(reward) AS mean_reward,
                   avg((reward > 0)::int)::float8 AS successful
            FROM parts GROUP BY campaign, part ORDER BY min(group_id), campaign, part""")

    def ablations(self):
        self.fetch("ablations", """
            SELECT a.ablation_id, t.name AS task, a.candidate_id, a.switches
            FROM cudal1.ablation AS a JOIN cudal1.task AS t ON t.task_id = a.task_id
            ORDER BY a.ablation_id DESC LIMIT 10""")
        for a in self.data["ablations"]:
            for name in ("table", "effects", "gatekeepers"):
                a[name] = self.db.rows(f"SELECT * FROM {self.home}.cudal1_ablation_{name}"
                                       f"({a['ablation_id']})")

    def codes(self):
        """The best of each task and what led to them, those that tables name, then the next."""
        named = [r["candidate_id"] for name in ("every", "tasks", "drift", "ablations")
                 for r in self.data[name]]
        named = self.literal(sorted({i for i in named if i is not None}))
        self.fetch("codes", f"""
            WITH named AS (SELECT unnest({named}::bigint[]) AS candidate_id),
            first AS (
                SELECT candidate_id FROM named
                UNION SELECT unnest(q.exemplars)
                    FROM named AS n
                        JOIN cudal1.proposal AS p ON p.candidate_id = n.candidate_id
                        JOIN cudal1.prompt AS q ON q.prompt_id = p.prompt_id),
            ranked AS (
                SELECT c.candidate_id, f.candidate_id IS NULL AS other,
                       row_number() OVER (
                           PARTITION BY c.task_id
                           ORDER BY c.reward DESC NULLS LAST, c.candidate_id) AS place
                FROM cudal1.candidate AS c LEFT JOIN first AS f ON f.candidate_id = c.candidate_id
                WHERE f.candidate_id IS NOT NULL OR c.purpose = 'normal' AND EXISTS (
                    SELECT FROM cudal1.proposal AS p
                        WHERE p.candidate_id = c.candidate_id AND {self.asked})),
            -- chosen before their texts are read, because a sort of all codes takes gigabytes
            shown AS (
                SELECT r.candidate_id, r.other, r.place, t.name AS task, t.language
                FROM ranked AS r JOIN cudal1.candidate AS c ON c.candidate_id = r.candidate_id
                    JOIN cudal1.task AS t ON t.task_id = c.task_id
                WHERE c.code <> '' AND t.retired_at IS NULL
                ORDER BY r.other, r.place, c.reward DESC NULLS LAST, r.candidate_id
                LIMIT {CODES_SHOWN})
            SELECT c.candidate_id, r.task, r.language, c.state, c.reward, c.wide, c.failure,
                   left(c.detail, 1000) AS detail, left(c.code, {CODE_SHOWN}) AS code,
                   p.method, p.prompt_id AS prompt, q.exemplars, q.scores, k.tool, k.counters
            FROM shown AS r JOIN cudal1.candidate AS c ON c.candidate_id = r.candidate_id
                LEFT JOIN LATERAL (
                    SELECT x.method, x.prompt_id FROM cudal1.proposal AS x
                        WHERE x.candidate_id = c.candidate_id
                        ORDER BY x.prompt_id NULLS LAST, x.proposal_id LIMIT 1) AS p ON true
                LEFT JOIN cudal1.prompt AS q ON q.prompt_id = p.prompt_id
                LEFT JOIN cudal1.profiler_run AS k ON k.candidate_id = c.candidate_id
            ORDER BY r.other, r.place, c.reward DESC NULLS LAST, c.candidate_id""")
        prompts = sorted({r["prompt"] for r in self.data["codes"] if r["prompt"] is not None})
        self.fetch("prompts", f"""
            SELECT prompt_id, left(prompt, {CODE_SHOWN}) AS prompt FROM cudal1.prompt
            WHERE prompt_id = ANY ({self.literal(prompts)}::bigint[])""")


def gather(db, options):
    figures = Figures(db, options)
    figures.data["home"] = db.rows(
        "SELECT e.extversion AS version, pg_catalog.current_database() AS database,"
        " pg_catalog.now() AS at FROM pg_catalog.pg_extension AS e WHERE e.extname = 'cudal1'")[0]
    figures.summaries()
    figures.speedups()
    figures.progress()
    figures.trust()
    figures.proposals()
    figures.ablations()
    figures.codes()
    return figures.data
