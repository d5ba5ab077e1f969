-- Queries for analysts: psql -f examples/queries.sql. The role needs cudal1_grant(role, 'analyst').

-- How do methods compare?
SELECT method, tasks, mean, geometric_mean, p50, success, speedup
FROM cudal1_method_report() WHERE level = 'All';

-- The best code of each task, and how sure its reward is
SELECT DISTINCT ON (t.name) t.name AS task, c.reward, c.half_width, c.wide, p.method, c.candidate_id
FROM cudal1.candidate AS c
    JOIN cudal1.task AS t USING (task_id)
    JOIN cudal1.proposal AS p ON p.candidate_id = c.candidate_id
WHERE c.state = 'successful' AND c.purpose = 'normal'
ORDER BY t.name, c.reward DESC, c.candidate_id;

-- Which tasks has no method solved?
SELECT t.name, t.level, count(c.candidate_id) AS candidates,
    mode() WITHIN GROUP (ORDER BY c.failure) AS most_common_failure
FROM cudal1.task AS t LEFT JOIN cudal1.candidate AS c ON c.task_id = t.task_id AND c.purpose = 'normal'
WHERE t.retired_at IS NULL
GROUP BY t.task_id HAVING count(*) FILTER (WHERE c.state = 'successful') = 0
ORDER BY t.name;

-- Why do candidates of each method fail?
SELECT p.method, c.failure, count(*) AS proposals,
    round(100.0 * count(*) / sum(count(*)) OVER (PARTITION BY p.method), 1) AS percent
FROM cudal1.proposal AS p JOIN cudal1.candidate AS c USING (candidate_id)
WHERE c.state = 'failed' AND c.purpose = 'normal'
GROUP BY p.method, c.failure ORDER BY p.method, proposals DESC;

-- What are the ten most common messages of failed candidates?
SELECT c.failure, left(c.detail, 60) AS detail, count(*) AS candidates
FROM cudal1.candidate AS c
WHERE c.state = 'failed' AND c.purpose = 'normal' AND c.detail IS NOT NULL
GROUP BY 1, 2 ORDER BY candidates DESC, detail LIMIT 10;

-- How do the best rewards grow with the number of proposals?
SELECT task, n AS proposals, reward AS best
FROM (SELECT t.name AS task, c.reward,
        row_number() OVER w AS n, max(c.reward) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM cudal1.proposal AS p JOIN cudal1.candidate AS c USING (candidate_id)
          JOIN cudal1.task AS t ON t.task_id = p.task_id
      WHERE c.purpose = 'normal'
      WINDOW w AS (PARTITION BY t.task_id ORDER BY p.proposal_id)) AS x
WHERE reward > coalesce(before, 0) ORDER BY task, n;

-- Which codes led to the five best ones? Exemplars of their prompts, of theirs, and so on
SELECT b.task, l.*
FROM (SELECT task, candidate_id FROM cudal1_best() ORDER BY reward DESC LIMIT 5) AS b,
    cudal1_lineage(b.candidate_id) AS l
ORDER BY b.task, l.depth, l.reward DESC;

-- What does a campaign cost for each successful code?
SELECT m.name AS model, count(*) FILTER (WHERE r.state = 'answered') AS answers, sum(r.prompt_tokens + r.completion_tokens) AS tokens,
    round(sum(r.cost)::numeric, 4) AS cost,
    round((sum(r.cost) / nullif(count(*) FILTER (WHERE c.state = 'successful'), 0))::numeric, 4) AS cost_of_a_success
FROM cudal1.request AS r JOIN cudal1.model AS m USING (model_id)
    LEFT JOIN cudal1.candidate AS c USING (candidate_id)
GROUP BY m.name;

-- How many device hours did each trainer's measurements take this week?
SELECT p.created_by AS trainer, round((sum(m.device_seconds) / 3600)::numeric, 2) AS device_hours,
    count(*) AS measurements
FROM cudal1.measurement AS m
    JOIN LATERAL (SELECT x.created_by FROM cudal1.proposal AS x
                  WHERE x.candidate_id = m.candidate_id ORDER BY x.proposal_id LIMIT 1) AS p ON true
WHERE m.measured_at > now() - interval '7 days'
GROUP BY p.created_by ORDER BY device_hours DESC;

-- Which rewards did not hold when measured again?
SELECT * FROM cudal1.drift WHERE changed ORDER BY measured_at DESC LIMIT 20;
