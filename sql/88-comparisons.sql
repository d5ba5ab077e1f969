/*
 * Comparisons of two methods, or of one on two devices: task by task, and paired tests over tasks.
 */

CREATE FUNCTION cudal1.paired_test(a float8[], b float8[], confidence float8, OUT pairs bigint,
	OUT a_better bigint, OUT b_better bigint, OUT ratio float8, OUT lower float8, OUT upper float8,
	OUT signed_rank_p float8, OUT sign_p float8)
RETURNS record LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_paired_test';
COMMENT ON FUNCTION cudal1.paired_test IS
'the figures of cudal1_compare() from speedups of two sides, pair by pair; Wilcoxon''s test is
without zeros, with ties at middle ranks';

CREATE FUNCTION cudal1.compare_tasks(method_a text, method_b text, device_a text, device_b text,
	missing text, without_weak boolean, tasks text[], baseline text, pool_a text, pool_b text)
RETURNS TABLE (level int, task text, speedup_a float8, speedup_b float8, ratio float8, lower float8,
	upper float8) LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT cudal1.check_report(method_a, device_a, missing),
		cudal1.check_report(method_b, device_b);
	SELECT t.level, t.name, v.a, v.b, v.ratio, v.ratio * exp(-sqrt(h.a ^ 2 + h.b ^ 2)),
		   v.ratio * exp(sqrt(h.a ^ 2 + h.b ^ 2))
	FROM cudal1.best_over(method_a, device_a, tasks, pool_a, baseline, without_weak) AS a
		JOIN cudal1.best_over(method_b, device_b, tasks, pool_b, baseline, without_weak) AS b
			ON b.task_id = a.task_id
		JOIN cudal1.task AS t ON t.task_id = a.task_id
		LEFT JOIN cudal1.measurement AS m ON m.measurement_id = a.measurement_id AND m.lower > 0
		LEFT JOIN cudal1.measurement AS n ON n.measurement_id = b.measurement_id AND n.lower > 0
		CROSS JOIN LATERAL (SELECT nullif(ln(m.upper / m.lower) / 2, 0) AS a,
			nullif(ln(n.upper / n.lower) / 2, 0) AS b) AS h
		CROSS JOIN (SELECT CASE compare_tasks.missing WHEN 'zero' THEN 0::float8
			WHEN 'one' THEN 1 END AS instead) AS i
		CROSS JOIN LATERAL (SELECT coalesce(a.speedup, i.instead) AS a,
			coalesce(b.speedup, i.instead) AS b) AS w
		CROSS JOIN LATERAL (SELECT w.a, w.b, CASE WHEN w.a = w.b THEN 1
			WHEN w.b > 0 THEN w.a / w.b END AS ratio) AS v
	WHERE v.a IS NOT NULL AND v.b IS NOT NULL
	ORDER BY t.level NULLS LAST, t.task_id;
END;
COMMENT ON FUNCTION cudal1.compare_tasks IS 'what cudal1_compare_tasks() does';

CREATE FUNCTION @extschema@.cudal1_compare_tasks(method_a text, method_b text,
	device_a text DEFAULT NULL, device_b text DEFAULT NULL, missing text DEFAULT 'one',
	without_weak boolean DEFAULT false, tasks text[] DEFAULT NULL, baseline text DEFAULT NULL,
	pool_a text DEFAULT NULL, pool_b text DEFAULT NULL)
RETURNS TABLE (level int, task text, speedup_a float8, speedup_b float8, ratio float8, lower float8,
	upper float8) LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT r.* FROM cudal1.compare_tasks(method_a, method_b, device_a, device_b, missing,
		without_weak, tasks, baseline, pool_a, pool_b) AS r;
END;
COMMENT ON FUNCTION @extschema@.cudal1_compare_tasks(text, text, text, text, text, boolean, text[],
	text, text, text) IS
'two methods (NULL: any), or one on two devices or in two pools, task by task: best speedups, their
ratio a / b (NULL where only b is 0) and its interval from those of the two measurements (NULL:
imported or missing). missing: one (no improvement counts 1.00), zero, or drop (tasks that only one
side solved are left out). tasks and baseline as in cudal1_speedup_report(); pool_a, pool_b: only
candidates that were proposed there (NULL: in any)';

CREATE FUNCTION @extschema@.cudal1_compare(method_a text, method_b text, device_a text DEFAULT NULL,
	device_b text DEFAULT NULL, missing text DEFAULT 'one', without_weak boolean DEFAULT false,
	confidence float8 DEFAULT 0.95, tasks text[] DEFAULT NULL, baseline text DEFAULT NULL,
	pool_a text DEFAULT NULL, pool_b text DEFAULT NULL)
RETURNS TABLE (level text, tasks bigint, a_better bigint, b_better bigint, ratio float8,
	lower float8, upper float8, signed_rank_p float8, sign_p float8, convention text)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT cudal1.raise_if(confidence IS NULL OR NOT (confidence > 0 AND confidence < 1), '22023',
		'argument "confidence" must lie between 0 and 1');
	WITH groups AS (
		SELECT g.label, g.place, array_agg(p.speedup_a ORDER BY p.task) AS a,
				array_agg(p.speedup_b ORDER BY p.task) AS b
			FROM cudal1.compare_tasks(method_a, method_b, device_a, device_b, missing,
					without_weak, cudal1_compare.tasks, baseline, pool_a, pool_b) AS p
				CROSS JOIN LATERAL cudal1.rows_of(p.level) AS g
			GROUP BY g.label, g.place)
	SELECT g.label, t.pairs, t.a_better, t.b_better, t.ratio, t.lower, t.upper, t.signed_rank_p,
			t.sign_p, CASE missing WHEN 'zero' THEN 'missing results count 0'
				WHEN 'one' THEN 'missing results count 1.00'
				ELSE 'tasks with a missing result left out' END
		FROM groups AS g CROSS JOIN LATERAL cudal1.paired_test(g.a, g.b, confidence) AS t
		ORDER BY g.place;
END;
COMMENT ON FUNCTION @extschema@.cudal1_compare(text, text, text, text, text, boolean, float8,
	text[], text, text, text) IS
'two methods, or one on two devices or in two pools, over the tasks of each level and All: how often
each is better, the geometric mean of the ratios a / b with its interval at the confidence
(Student''s t over ln ratio, tasks as the sample), and two paired tests, two-sided: Wilcoxon''s
signed ranks (exact up to 400 tasks) and signs (exact). Under missing zero an interval is NULL where
one side failed alone, the tests still count it. Arguments as in cudal1_compare_tasks(). Errors:
22023 bad argument, 42704 unknown method, device, task, pool or baseline';
