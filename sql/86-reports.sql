/*
 * Reports. Where any of a task's successful candidates has been evaluated, evaluations alone speak
 * for that task, else its best reward (docs/reports.md says why). A report costs tasks, evaluations
 * and imports, not candidates: the best reward of a task is the head of an index.
 */

CREATE FUNCTION cudal1.proposals_of(candidate bigint, by_method text, in_pool int)
RETURNS TABLE (proposal_id bigint) LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT p.proposal_id FROM cudal1.proposal AS p
		WHERE p.candidate_id = candidate AND (by_method IS NULL OR p.method = by_method)
			AND (in_pool IS NULL OR p.pool_id = in_pool);
END;
COMMENT ON FUNCTION cudal1.proposals_of IS
'the proposals of a candidate by a method in a pool (NULL: any), inlined by the planner';

CREATE FUNCTION cudal1.best_reward(task_id bigint, method text, pool_id int DEFAULT NULL,
	OUT candidate_id bigint, OUT reward float8, OUT score float8, OUT measurement_id bigint)
LANGUAGE sql STABLE PARALLEL SAFE SET enable_seqscan = off SET enable_bitmapscan = off
	SET enable_hashjoin = off SET enable_mergejoin = off SET enable_sort = off SET jit = off
AS $$
	SELECT c.candidate_id, c.reward, c.score, c.measurement_id FROM cudal1.candidate AS c
		WHERE c.task_id = best_reward.task_id AND c.state = 'successful'
			AND c.purpose = 'normal' AND NOT c.imported
			-- OFFSET 0 keeps the planner from joining all proposals of the method: rows are asked
			-- one by one until one fits
			AND (num_nulls(best_reward.method, best_reward.pool_id) = 2
				OR EXISTS (SELECT FROM cudal1.proposals_of(c.candidate_id, best_reward.method,
					best_reward.pool_id) OFFSET 0))
		ORDER BY c.reward DESC, c.candidate_id LIMIT 1;
$$;
COMMENT ON FUNCTION cudal1.best_reward IS
'the best candidate of a task that was measured here, by a method in a pool (NULL: any)';

CREATE FUNCTION cudal1.choose_pool(pool text)
RETURNS int LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN pool IS NOT NULL THEN cudal1.find_pool(pool) END;
COMMENT ON FUNCTION cudal1.choose_pool IS
'the pool of this name; NULL for NULL, which is all. Error 42704: there is none';

CREATE FUNCTION cudal1.fails_everywhere(failure text)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN COALESCE(failure IN ('wrong_output', 'cheat', 'withdrawn'), false);
COMMENT ON FUNCTION cudal1.fails_everywhere IS
'whether a failure holds on every device: wrong, cheating or withdrawn code';

CREATE FUNCTION cudal1.over_baseline(speedup float8, score float8, unrounded boolean)
RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN score IS NULL THEN speedup
			WHEN unrounded THEN speedup / score
			ELSE cudal1.conservative_round(speedup / score) END;
COMMENT ON FUNCTION cudal1.over_baseline IS
'a speedup over a baseline of that score; NULL: over what rewards are over';

CREATE FUNCTION cudal1.best_over(method text, device text, tasks text[], pool text, baseline text,
	without_weak boolean DEFAULT false)
RETURNS TABLE (task_id bigint, level int, candidate_id bigint, speedup float8, evaluated boolean,
	score float8, measurement_id bigint, over float8, weak boolean)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
	only_pool constant int := cudal1.choose_pool(pool);
	-- the argument is a class, a model, or NULL
	model	constant text := CASE WHEN device <> ALL (cudal1.classes()) THEN device END;
	class	constant text := CASE WHEN model IS NULL THEN device ELSE (SELECT d.class
		FROM cudal1.device AS d WHERE d.model = device ORDER BY d.device_id LIMIT 1) END;
	wanted	text;
	fits	bigint[];
	ids		bigint[] := CASE WHEN tasks IS NOT NULL THEN '{}'::bigint[] END;
BEGIN
	PERFORM cudal1.raise_if(without_weak IS NULL, '22004', 'without_weak must not be null');
	PERFORM cudal1.check_name('baseline', baseline) WHERE baseline IS NOT NULL;
	FOREACH wanted IN ARRAY coalesce(tasks, '{}') LOOP
		PERFORM cudal1.raise_if(wanted IS NULL, '22004', 'argument "tasks" must not contain nulls');
		-- a name of a task is no pattern
		fits := ARRAY(SELECT (cudal1.find_task(t.name)).task_id FROM cudal1.task AS t
			WHERE t.name = wanted);
		IF fits = '{}' THEN
			PERFORM cudal1.raise_if((length(wanted) - length(rtrim(wanted, chr(92)))) % 2 = 1,
				'22025', 'a pattern of argument "tasks" must not end with a backslash');
			fits := ARRAY(SELECT t.task_id FROM cudal1.task AS t
				WHERE t.name LIKE wanted AND t.retired_at IS NULL);
		END IF;
		PERFORM cudal1.check_among('task', wanted, ARRAY(SELECT t.name FROM cudal1.task AS t
			ORDER BY t.name), 'Tasks are names or LIKE patterns.') WHERE fits = '{}';
		ids := ids || fits;
	END LOOP;
	RETURN QUERY
	-- The planner expects one task, because it does not know the arguments. It would join these
	-- WITH queries by nested loops, whose time is tasks times rows. So each task looks its rows up
	-- in an index (LATERAL), sets are asked with NOT IN or with IN under OR, which are hashed, and
	-- one sort brings the rows of a task together.
	WITH tasks AS MATERIALIZED (
		SELECT t.task_id, t.device_model FROM cudal1.task AS t
		CROSS JOIN LATERAL (
			SELECT CASE WHEN t.device = ANY (cudal1.classes()) THEN t.device
						ELSE coalesce((SELECT f.class FROM cudal1.language_facts() AS f
								WHERE f.language = t.language), (SELECT d.class
							FROM cudal1.device AS d WHERE d.model = t.device
							ORDER BY d.device_id LIMIT 1)) END AS name) AS k
		WHERE coalesce(k.name = class, true) AND t.retired_at IS NULL
			AND (ids IS NULL OR t.task_id IN (SELECT unnest(ids)))
	), evaluations AS MATERIALIZED (
		SELECT t.task_id, e.* FROM tasks AS t
		CROSS JOIN LATERAL (
			-- the last evaluation of a candidate on a model, failures (reward 0) included
			SELECT DISTINCT ON (m.candidate_id, m.device_model) m.candidate_id,
				m.reward AS speedup, m.score, m.measurement_id, m.device_model
			FROM cudal1.measurement AS m
			JOIN cudal1.candidate AS c ON c.candidate_id = m.candidate_id
			WHERE m.task_id = t.task_id AND m.kind = 'evaluate' AND m.reward IS NOT NULL
				AND c.purpose = 'normal' AND c.state = 'successful'
				AND m.device_model = COALESCE(model, t.device_model, m.device_model)
				AND (num_nulls(best_over.method, only_pool) = 2 OR EXISTS (
					SELECT FROM cudal1.proposals_of(c.candidate_id, best_over.method, only_pool)))
			ORDER BY m.candidate_id, m.device_model, m.measurement_id DESC) AS e
	), speaking AS (
		-- what speaks for a task, by weight: evaluations, else rewards and imports, else the task
		-- itself, of which nothing is known
		SELECT t.task_id, 0 AS weight, NULL::bigint AS candidate_id, NULL::float8 AS speedup,
			NULL::float8 AS score, NULL::bigint AS measurement_id, NULL::text AS device_model
		FROM tasks AS t
		UNION ALL
		SELECT e.task_id, 2, e.candidate_id, e.speedup, e.score, e.measurement_id, e.device_model
		FROM evaluations AS e
		UNION ALL
		-- measured here, on the one model of the task
		SELECT t.task_id, 1, b.candidate_id, b.reward, b.score, b.measurement_id, t.device_model
		FROM tasks AS t
		CROSS JOIN LATERAL cudal1.best_reward(t.task_id, best_over.method, only_pool) AS b
		WHERE coalesce(t.device_model = model, model IS NULL) AND b.reward IS NOT NULL
			AND t.task_id NOT IN (SELECT e.task_id FROM evaluations AS e)
		UNION ALL
		-- imported: as a reward, or with a score of the device asked for that was not measured here
		SELECT c.task_id, 1, c.candidate_id, i.reward, i.score, NULL, i.device
		FROM cudal1.imported_score AS i
		CROSS JOIN LATERAL (SELECT x.* FROM cudal1.candidate AS x
			WHERE x.candidate_id = i.candidate_id OFFSET 0) AS c
		LEFT JOIN cudal1.measurement AS m ON m.measurement_id = c.measurement_id
		WHERE i.reward > 0 AND c.purpose IN ('normal', 'withheld')
			AND CASE WHEN model IS NULL THEN c.imported AND i.device = c.import_device
				ELSE i.device = model AND NOT cudal1.fails_everywhere(c.failure)
					AND m.device_model IS DISTINCT FROM model END
			AND (num_nulls(best_over.method, only_pool) = 2 OR EXISTS (
				SELECT FROM cudal1.proposals_of(c.candidate_id, best_over.method, only_pool)))
	)
	SELECT DISTINCT ON (w.task_id) w.task_id, t.level, k.candidate_id,
		cudal1.over_baseline(k.speedup, base.score, false),
		w.weight = 2 AND k.candidate_id IS NOT NULL, COALESCE(k.score, k.speedup),
		k.measurement_id, base.score, t.certified IS NOT DISTINCT FROM 'weak'
	FROM (SELECT s.*, min(s.weight) OVER of_task AS least, max(s.weight) OVER of_task AS most
		FROM speaking AS s WINDOW of_task AS (PARTITION BY s.task_id)) AS w
	JOIN cudal1.task AS t ON t.task_id = w.task_id
	LEFT JOIN LATERAL (SELECT w.candidate_id, w.speedup, w.score, w.measurement_id) AS k
		ON w.speedup > 0
	CROSS JOIN LATERAL (SELECT CASE WHEN best_over.baseline IS NOT NULL
			THEN cudal1.baseline_score(w.task_id, best_over.baseline,
				coalesce(w.device_model, best_over.device)) END AS score) AS base
	-- imports are of all tasks; those not asked for have no row of their own
	WHERE w.least = 0 AND w.weight = w.most
		AND (best_over.baseline IS NULL OR base.score IS NOT NULL)
		AND NOT (best_over.without_weak AND t.certified IS NOT DISTINCT FROM 'weak')
	ORDER BY w.task_id, k.speedup / coalesce(base.score, 1) DESC NULLS LAST,
		COALESCE(k.score, k.speedup) / coalesce(base.score, 1) DESC NULLS LAST, w.candidate_id;
	IF NOT FOUND AND baseline IS NOT NULL THEN
		RAISE NOTICE USING
			MESSAGE = format('no task has a score of baseline "%s", so none counts', baseline),
			HINT = 'cudal1_add_baselines() has a task''s baselines measured.';
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.best_over IS
'the best successful candidate of each chosen task by a method in a pool (NULL: any) on a device
(NULL: each task''s own, and imports of any), over a baseline whose score there is over, without
tasks of another class or without that score; speedup NULL: none';

CREATE FUNCTION cudal1.check_report(method text, device text, missing text DEFAULT 'zero')
RETURNS void LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
	PERFORM cudal1.raise_if(missing IS NULL OR missing NOT IN ('zero', 'one', 'drop'), '22023',
		'argument "missing" must be "zero", "one" or "drop"',
		cudal1.nearest(missing, '{zero,one,drop}'));
	PERFORM cudal1.check_among('device', device, cudal1.classes() || ARRAY(
				SELECT d.model FROM cudal1.device AS d
				UNION SELECT i.device FROM cudal1.imported_score AS i
				UNION SELECT t.device FROM cudal1.task AS t ORDER BY 1),
			format('Name a class (%s), or a model in cudal1.device or of an imported result.',
				array_to_string(cudal1.classes(), ', ')))
		WHERE check_report.device IS NOT NULL;
	IF check_report.method IS NOT NULL
		AND NOT EXISTS (SELECT FROM cudal1.proposal AS p WHERE p.method = check_report.method) THEN
		-- a method may exist without a proposal
		PERFORM cudal1.check_name('method', method);
		RAISE NOTICE 'nothing was proposed by method "%"', method;
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.check_report IS
'errors 22023 and 42704 of what reports share, and a NOTICE for a method without proposals';

/*
 * The paper's tables. What a table makes of tasks without success decides its figures as much as
 * the codes do, so every row says which convention it follows and for how many tasks. Single tasks
 * carry means of speedups (one of 449 in 250 adds 1.8), so geometric and trimmed means are beside.
 */

CREATE FUNCTION cudal1.rows_of(level int)
RETURNS TABLE (label text, place bigint) LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	VALUES (COALESCE(level::text, 'none'), COALESCE(level, 2147483647)::bigint),
		('All', 2147483648);
END;
COMMENT ON FUNCTION cudal1.rows_of IS
'the rows of a report that a task of a level counts in, with their places';

CREATE FUNCTION cudal1.counted_speedups(method text, device text, missing text, tasks text[],
	pool text, baseline text, without_weak boolean DEFAULT false, unrounded boolean DEFAULT false)
RETURNS TABLE (level text, place bigint, speedup float8, achieved float8, evaluated boolean,
	weak boolean) LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
	PERFORM cudal1.check_report(method, device, missing);
	PERFORM cudal1.raise_if(unrounded IS NULL, '22004', 'unrounded must not be null');
	RETURN QUERY
	SELECT g.label, g.place, coalesce(a.speedup,
			CASE counted_speedups.missing WHEN 'zero' THEN 0 WHEN 'one' THEN 1 END),
			a.speedup, b.evaluated, b.weak
	FROM cudal1.best_over(method, device, tasks, pool, baseline, without_weak) AS b
		CROSS JOIN LATERAL (SELECT CASE WHEN counted_speedups.unrounded
			THEN cudal1.over_baseline(b.score, b.over, true) ELSE b.speedup END AS speedup) AS a
		CROSS JOIN LATERAL cudal1.rows_of(b.level) AS g;
	IF NOT FOUND THEN
		level := 'All';
		place := 2147483648;
		RETURN NEXT;
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.counted_speedups IS
'what each task counts with in its level and in All: speedup (NULL: dropped), achieved (NULL: none).
Without tasks a row of NULLs in All';

CREATE FUNCTION cudal1.level_report(method text, device text, missing text, without_weak boolean,
	cut float8, faster_than float8, unrounded boolean, chosen text[], pool text, baseline text,
	notes_training boolean DEFAULT false)
RETURNS TABLE (level text, tasks bigint, mean float8, max float8, p75 float8, p50 float8,
	p25 float8, success bigint, speedup bigint, geometric_mean float8, trimmed_mean float8,
	convention text, evaluated bigint, weak bigint) LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
	PERFORM cudal1.raise_if(cut IS NULL OR NOT (cut >= 0 AND cut < 0.5), '22023',
		'argument "cut" must be a share of at least 0 and below 0.5');
	PERFORM cudal1.raise_if(faster_than IS NULL
			OR NOT (faster_than >= 0 AND faster_than < 'infinity'), '22023',
		'argument "faster_than" must be a speedup, for instance 1');
	FOR level, tasks, mean, max, p75, p50, p25, success, speedup, geometric_mean, trimmed_mean,
		convention, evaluated, weak IN
	WITH ranked AS (
		SELECT c.*, row_number() OVER w AS r, count(c.speedup) OVER (PARTITION BY c.level) AS n
			FROM cudal1.counted_speedups(method, device, missing, chosen, pool, baseline,
				without_weak, unrounded) AS c
			WINDOW w AS (PARTITION BY c.level ORDER BY c.speedup NULLS LAST)),
	figures AS (
		SELECT r.level, r.place, count(r.speedup) AS tasks, avg(r.speedup) AS mean,
				max(r.speedup) AS max,
				-- numeric cuts what binary fractions add in the 16th digit
				percentile_cont('{0.75,0.5,0.25}'::float8[]) WITHIN GROUP (ORDER BY r.speedup)
					::numeric[]::float8[] AS p,
				count(r.achieved) AS success,
				count(*) FILTER (WHERE r.achieved > level_report.faster_than) AS speedup,
				CASE WHEN min(r.speedup) = 0 THEN 0 ELSE exp(avg(ln(nullif(r.speedup, 0)))) END
					AS geometric_mean,
				avg(r.speedup) FILTER (WHERE r.r > floor(r.n * level_report.cut)
					AND r.r <= r.n - floor(r.n * level_report.cut)) AS trimmed_mean,
				count(r.evaluated) - count(r.achieved) AS unsolved,
				count(*) FILTER (WHERE r.evaluated) AS evaluated,
				count(*) FILTER (WHERE r.weak) AS weak
			FROM ranked AS r GROUP BY r.level, r.place)
	SELECT f.level, f.tasks, cudal1.over_baseline(f.mean, 1, unrounded), f.max,
			cudal1.over_baseline(f.p[1], 1, unrounded), cudal1.over_baseline(f.p[2], 1, unrounded),
			cudal1.over_baseline(f.p[3], 1, unrounded), f.success, f.speedup,
			cudal1.over_baseline(f.geometric_mean, 1, unrounded),
			cudal1.over_baseline(f.trimmed_mean, 1, unrounded),
			f.unsolved || CASE missing WHEN 'zero' THEN ' unsolved, counted as 0'
				WHEN 'one' THEN ' unsolved, counted as 1.00' ELSE ' unsolved, left out' END,
			f.evaluated, f.weak
		FROM figures AS f ORDER BY f.place
	LOOP
		RETURN NEXT;
	END LOOP;
	-- the last row is All
	IF notes_training AND success > evaluated THEN
		RAISE NOTICE USING
			MESSAGE = format('training rewards are shown for %s task(s)', success - evaluated),
			DETAIL = 'The best of many training rewards is biased upwards. Evaluations '
				'(cudal1_evaluate()) replace them.';
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.level_report IS
'what cudal1_level_report() does: one row a level, and All, also without tasks';

CREATE FUNCTION @extschema@.cudal1_speedup_report(method text DEFAULT NULL,
	device text DEFAULT NULL, missing text DEFAULT 'zero', tasks text[] DEFAULT NULL,
	pool text DEFAULT NULL, baseline text DEFAULT NULL)
RETURNS TABLE (level text, tasks bigint, mean float8, max float8, p75 float8, p50 float8,
	p25 float8, success bigint, speedup bigint) LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT r.level, r.tasks, r.mean, r.max, r.p75, r.p50, r.p25, r.success, r.speedup
		FROM cudal1.level_report(method, device, missing, false, 0.1, 1, false,
			cudal1_speedup_report.tasks, pool, baseline, true) AS r;
END;
COMMENT ON FUNCTION @extschema@.cudal1_speedup_report(text, text, text, text[], text, text) IS
'the columns of CUDA-L1''s tables 4 to 7: one row a level, ''none'' for tasks without one, and
''All''. Each task counts with its best successful candidate by the method (of a proposal; NULL:
any) on the device (class or model; NULL: the task''s own). missing: zero (a task without success
counts 0, the paper''s way), one (counts 1.00), drop (is left out of tasks, mean and percentiles).
tasks = all of the level, attempted or not, on devices of the class asked for; percentiles are
linear, so p50 is the median; means and percentiles are rounded as rewards are; success = tasks with
a successful candidate; speedup = those above 1.00. Imported results count; null, certification and
ablation candidates do not. Evaluations are preferred where a task has any; a NOTICE counts the
tasks that show training rewards. tasks: names or LIKE patterns of the tasks that count (NULL: all);
pool: candidates that were proposed in it (NULL: in any); baseline: speedups over that one, and no
tasks without its score (cudal1_add_baselines(); NULL: over what each task''s rewards are over).
Errors: 22023 bad missing, 42704 unknown method, device, task, pool or baseline';

CREATE FUNCTION @extschema@.cudal1_level_report(method text DEFAULT NULL, device text DEFAULT NULL,
	missing text DEFAULT 'zero', without_weak boolean DEFAULT false, cut float8 DEFAULT 0.1,
	faster_than float8 DEFAULT 1, unrounded boolean DEFAULT false, tasks text[] DEFAULT NULL,
	pool text DEFAULT NULL, baseline text DEFAULT NULL)
RETURNS TABLE (level text, tasks bigint, mean float8, max float8, p75 float8, p50 float8,
	p25 float8, success bigint, speedup bigint, geometric_mean float8, trimmed_mean float8,
	convention text, evaluated bigint, weak bigint)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT r.* FROM cudal1.level_report(method, device, missing, without_weak, cut, faster_than,
		unrounded, cudal1_level_report.tasks, pool, baseline) AS r;
END;
COMMENT ON FUNCTION @extschema@.cudal1_level_report(text, text, text, boolean, float8, float8,
	boolean, text[], text, text) IS
'CUDA-L1, table 4: the columns of cudal1_speedup_report(), then geometric_mean (0 as soon as a task
counts 0), trimmed_mean (without the share cut of the tasks at either end, 0.1 by default),
convention (what was made of tasks without success, and how many), evaluated (tasks whose speedup is
an evaluation, not a training reward), weak (tasks that certification found not to discriminate;
without_weak leaves them out). faster_than: what the column speedup counts above (1); unrounded:
figures of scores as they were measured or imported, not rounded to two decimals towards 1. Other
arguments and errors as in cudal1_speedup_report(); 22023 also for a bad cut or faster_than';

CREATE FUNCTION @extschema@.cudal1_method_report(methods text[] DEFAULT NULL,
	device text DEFAULT NULL, missing text DEFAULT 'zero', without_weak boolean DEFAULT false,
	cut float8 DEFAULT 0.1, faster_than float8 DEFAULT 1, unrounded boolean DEFAULT false,
	tasks text[] DEFAULT NULL, pool text DEFAULT NULL, baseline text DEFAULT NULL)
RETURNS TABLE (level text, method text, tasks bigint, mean float8, max float8, p75 float8,
	p50 float8, p25 float8, success bigint, speedup bigint, geometric_mean float8,
	trimmed_mean float8, convention text, evaluated bigint, weak bigint)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT r.level, m.name, r.tasks, r.mean, r.max, r.p75, r.p50, r.p25, r.success, r.speedup,
		r.geometric_mean, r.trimmed_mean, r.convention, r.evaluated, r.weak
	FROM unnest(COALESCE(cudal1_method_report.methods, ARRAY(SELECT DISTINCT p.method
				FROM cudal1.proposal AS p JOIN cudal1.candidate AS c USING (candidate_id)
				WHERE c.purpose IN ('normal', 'withheld') ORDER BY p.method)))
			WITH ORDINALITY AS m (name, place)
		CROSS JOIN LATERAL cudal1.level_report(m.name, device, missing, without_weak, cut,
			faster_than, unrounded, tasks, pool, baseline) AS r
	ORDER BY r.level = 'All', r.level = 'none', length(r.level), r.level, m.place;
END;
COMMENT ON FUNCTION @extschema@.cudal1_method_report(text[], text, text, boolean, float8, float8,
	boolean, text[], text, text) IS
'CUDA-L1, tables 5 (rows All) and 11 (rows of the levels): cudal1_level_report() for each method, in
the order given; NULL: all methods with ordinary candidates, by name. baseline as there';

CREATE FUNCTION @extschema@.cudal1_device_report(devices text[] DEFAULT NULL,
	method text DEFAULT NULL, missing text DEFAULT 'zero', without_weak boolean DEFAULT false,
	cut float8 DEFAULT 0.1, faster_than float8 DEFAULT 1, unrounded boolean DEFAULT false,
	tasks text[] DEFAULT NULL, pool text DEFAULT NULL, baseline text DEFAULT NULL)
RETURNS TABLE (level text, device text, tasks bigint, mean float8, max float8, p75 float8,
	p50 float8, p25 float8, success bigint, speedup bigint, geometric_mean float8,
	trimmed_mean float8, convention text, evaluated bigint, weak bigint)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT r.level, m.name, r.tasks, r.mean, r.max, r.p75, r.p50, r.p25, r.success, r.speedup,
		r.geometric_mean, r.trimmed_mean, r.convention, r.evaluated, r.weak
	FROM unnest(COALESCE(cudal1_device_report.devices, ARRAY(
				SELECT t.device_model FROM cudal1.task AS t WHERE t.device_model IS NOT NULL
				UNION SELECT i.device FROM cudal1.imported_score AS i
				UNION SELECT e.device_model FROM cudal1.measurement AS e
					WHERE e.kind = 'evaluate' AND e.reward IS NOT NULL
				ORDER BY 1))) WITH ORDINALITY AS m (name, place)
		CROSS JOIN LATERAL cudal1.level_report(method, m.name, missing, without_weak, cut,
			faster_than, unrounded, tasks, pool, baseline) AS r
	ORDER BY r.level = 'All', r.level = 'none', length(r.level), r.level, m.place;
END;
COMMENT ON FUNCTION @extschema@.cudal1_device_report(text[], text, text, boolean, float8, float8,
	boolean, text[], text, text) IS
'CUDA-L1, tables 6 (rows All) and 7 (rows of the levels): cudal1_level_report() for each device
model, in the order given; NULL: all models with rewards, evaluations or imported scores, by name.
baseline as there: on another model than the task''s, its evaluation there (cudal1_evaluate())';

CREATE FUNCTION @extschema@.cudal1_top_tasks(n int DEFAULT 10, method text DEFAULT NULL,
	device text DEFAULT NULL, without_weak boolean DEFAULT false, tasks text[] DEFAULT NULL,
	pool text DEFAULT NULL, baseline text DEFAULT NULL)
RETURNS TABLE (rank bigint, level int, problem int, task text, speedup float8, lower float8,
	upper float8, candidate_id bigint, methods text[], evaluated boolean, wide boolean)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT cudal1.raise_if(n IS NULL OR n < 1, '22023', 'argument "n" must be at least 1'),
		cudal1.check_report(method, device);
	SELECT rank() OVER (ORDER BY b.speedup DESC), t.level, t.problem, t.name, b.speedup,
		cudal1.over_baseline(m.lower, coalesce(b.over, 1), false),
		cudal1.over_baseline(m.upper, coalesce(b.over, 1), false), b.candidate_id,
		   ARRAY(SELECT DISTINCT p.method FROM cudal1.proposal AS p
			WHERE p.candidate_id = b.candidate_id ORDER BY p.method), b.evaluated,
		   coalesce(m.wide, false)
	FROM cudal1.best_over(method, device, tasks, pool, baseline, without_weak) AS b
		JOIN cudal1.task AS t ON t.task_id = b.task_id
		LEFT JOIN cudal1.measurement AS m ON m.measurement_id = b.measurement_id
	WHERE b.speedup IS NOT NULL
	ORDER BY b.speedup DESC, t.name
	LIMIT cudal1_top_tasks.n;
END;
COMMENT ON FUNCTION @extschema@.cudal1_top_tasks(int, text, text, boolean, text[], text, text) IS
'CUDA-L1, table 8: the n tasks with the highest speedups; lower and upper: interval of the
measurement it rests on (NULL: imported), over the score of a baseline, without its interval;
methods: all that proposed the code; wide: the speedup is an end of the interval. Other arguments
and errors as in cudal1_speedup_report(); 22023 for n below 1';

CREATE FUNCTION @extschema@.cudal1_speedup_histogram(method text DEFAULT NULL,
	device text DEFAULT NULL, width float8 DEFAULT 0.5, without_weak boolean DEFAULT false,
	tasks text[] DEFAULT NULL, pool text DEFAULT NULL, baseline text DEFAULT NULL)
RETURNS TABLE (level text, lower float8, upper float8, speedup_from float8, speedup_to float8,
	tasks bigint, share float8) LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
-- the planner takes each function for a thousand rows, and compiling took 0.2 s a call
SET jit = off
BEGIN ATOMIC
	SELECT cudal1.check_number('width', width, 0.001, 10);
	WITH labelled AS MATERIALIZED (
		SELECT c.level AS label, c.place, floor(ln(c.achieved) / width)::int AS k
			FROM cudal1.counted_speedups(method, device, 'drop',
				cudal1_speedup_histogram.tasks, pool, baseline, without_weak) AS c
			WHERE c.achieved > 0
	), bins AS (
		-- bins between the ends may be empty
		SELECT generate_series(min(b.k), max(b.k)) AS k FROM labelled AS b)
	SELECT l.label, i.k * width, (i.k + 1) * width, exp(i.k * width), exp((i.k + 1) * width),
			count(x.k), count(x.k)::float8 / sum(count(x.k)) OVER (PARTITION BY l.label)
		FROM (SELECT DISTINCT y.label, y.place FROM labelled AS y) AS l CROSS JOIN bins AS i
			LEFT JOIN labelled AS x ON x.label = l.label AND x.k = i.k
		GROUP BY l.label, l.place, i.k
		ORDER BY l.place, i.k;
END;
COMMENT ON FUNCTION @extschema@.cudal1_speedup_histogram(text, text, float8, boolean, text[], text,
	text) IS
'CUDA-L1, figure 3: successful tasks by ln speedup in bins [lower, upper) of a width (0.5), which
are [speedup_from, speedup_to) in speedup; all levels over the same bins, share within the level.
Other arguments and errors as in cudal1_speedup_report(); 22023 for a bad width';

CREATE FUNCTION @extschema@.cudal1_percentiles(method text DEFAULT NULL,
	fractions float8[] DEFAULT '{0.1,0.25,0.5,0.75,0.9}', device text DEFAULT NULL,
	missing text DEFAULT 'zero', tasks text[] DEFAULT NULL, pool text DEFAULT NULL,
	baseline text DEFAULT NULL)
RETURNS TABLE (level text, fraction float8, speedup float8)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT cudal1.raise_if(
		(fractions <> '{}' AND 0 <= ALL (fractions) AND 1 >= ALL (fractions)) IS NOT TRUE, '22023',
		'argument "fractions" must hold numbers between 0 and 1', 'For instance {0.1,0.5,0.9}.');
	SELECT g.level, f.fraction, cudal1.conservative_round(f.speedup)
	FROM (SELECT c.level, c.place,
		percentile_cont(fractions) WITHIN GROUP (ORDER BY c.speedup) AS speedups
		  FROM cudal1.counted_speedups(method, device, missing, tasks, pool, baseline) AS c
		  GROUP BY c.level, c.place) AS g
		CROSS JOIN LATERAL unnest(fractions, g.speedups) WITH ORDINALITY AS f (fraction, speedup, n)
	ORDER BY g.place, f.n;
END;
COMMENT ON FUNCTION @extschema@.cudal1_percentiles(text, float8[], text, text, text[], text,
	text) IS
'percentiles of the tasks'' speedups, at each of the fractions (0 to 1, linear between two tasks),
for each level and All; rounded as rewards are, NULL where no task counts. Other arguments and
errors as in cudal1_speedup_report(); 22023 for bad fractions';

CREATE FUNCTION @extschema@.cudal1_fast_p(method text DEFAULT NULL, p float8[] DEFAULT '{1,1.5,2}',
	device text DEFAULT NULL, missing text DEFAULT 'zero', tasks text[] DEFAULT NULL,
	pool text DEFAULT NULL, baseline text DEFAULT NULL)
RETURNS TABLE (level text, p float8, share float8)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT cudal1.raise_if((p <> '{}' AND 0 <= ALL (p) AND 'infinity' > ALL (p)) IS NOT TRUE,
		'22023', 'argument "p" must hold speedups, which are not negative',
		'For instance {1,1.5,2}.');
	SELECT c.level, x.p, count(*) FILTER (WHERE c.speedup > x.p)::float8
			/ NULLIF(count(c.speedup), 0)
		FROM cudal1.counted_speedups(method, device, missing, tasks, pool, baseline) AS c
			CROSS JOIN unnest(cudal1_fast_p.p) WITH ORDINALITY AS x (p, n)
		GROUP BY c.level, c.place, x.p, x.n
		ORDER BY c.place, x.n;
END;
COMMENT ON FUNCTION @extschema@.cudal1_fast_p(text, float8[], text, text, text[], text, text) IS
'KernelBench''s fast_p: the share (0 to 1) of tasks whose speedup is above p, for each p, level and
All; NULL where no task counts. Else as cudal1_speedup_report(); error 22023 for a bad p';

CREATE FUNCTION cudal1.light(t cudal1.task, device text)
RETURNS TABLE (bytes float8, operations float8, seconds float8) LANGUAGE sql STABLE PARALLEL SAFE
AS $$
	SELECT b.bytes, t.operations, greatest(b.bytes / d.bandwidth, t.operations / d.peak)
	FROM (SELECT coalesce(t.bytes, sum(cudal1.array_bytes(a.value)
				* CASE a.value ->> 'role' WHEN 'inout' THEN 2 ELSE 1 END)::float8) AS bytes
			FROM jsonb_array_elements(t.signature -> 'args') AS a
			WHERE a.value ->> 'role' <> 'scalar') AS b
		LEFT JOIN LATERAL (SELECT max(x.bandwidth * n.cores) AS bandwidth,
				max(x.peak * n.cores) AS peak
			FROM cudal1.device AS x
				CROSS JOIN LATERAL (SELECT CASE x.class WHEN 'cpu' THEN t.cores ELSE 1 END)
					AS n(cores)
			WHERE coalesce(light.device, t.device_model, t.device)
				IN (x.model, x.class, x.device_key)) AS d ON true;
$$;
COMMENT ON FUNCTION cudal1.light IS 'cudal1_light() of a task';

CREATE FUNCTION @extschema@.cudal1_light(task text, device text DEFAULT NULL)
RETURNS TABLE (bytes float8, operations float8, seconds float8)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT cudal1.check_device(device);
	SELECT l.* FROM cudal1.light(cudal1.find_task(task), device) AS l;
END;
COMMENT ON FUNCTION @extschema@.cudal1_light(text, text) IS
'the least time that a call of a task takes on a device (a model, a class or a key; NULL: the
task''s): the longer one of reading its inputs and writing its outputs once, in bytes, at the
bandwidth of the device''s memory, and of its operations at the device''s peak. Caches may be faster
than memory. operations are those of a PyTorch task''s reference, as PyTorch''s FlopCounterMode
counts them in its first measurement; NULL: not counted. bytes and seconds are NULL before that, or
where the device''s bandwidth is not known. Errors: 42704 unknown task or device';

CREATE FUNCTION @extschema@.cudal1_task_report(method text DEFAULT NULL, device text DEFAULT NULL,
	tasks text[] DEFAULT NULL, pool text DEFAULT NULL, baseline text DEFAULT NULL)
RETURNS TABLE (task text, level int, state text, reward float8, lower float8, upper float8,
	failure text, candidate_id bigint, detail text, wide boolean, evaluated boolean, methods text[],
	of_light float8) LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
-- the planner takes cudal1.best_over() for a thousand rows, and compiling took 0.4 s a call
SET jit = off
AS $$
DECLARE
	only_pool constant int := cudal1.choose_pool(pool);
	model	constant text := CASE WHEN device <> ALL (cudal1.classes()) THEN device END;
BEGIN
	PERFORM cudal1.check_report(method, device);
	RETURN QUERY
	SELECT t.name, t.level,
		coalesce(CASE WHEN b.speedup > 0 THEN 'successful' END, o.state, 'untried'),
		   coalesce(b.speedup, CASE WHEN o.state = 'failed' THEN 0 END),
		   cudal1.over_baseline(m.lower, coalesce(b.over, 1), false),
		   cudal1.over_baseline(m.upper, coalesce(b.over, 1), false),
		   o.failure, coalesce(b.candidate_id, o.candidate_id),
		   coalesce(o.detail, cudal1.weakness(t)),
		   coalesce(m.wide, false), coalesce(b.evaluated, false),
		   ARRAY(SELECT DISTINCT p.method FROM cudal1.proposal AS p
			WHERE p.candidate_id = coalesce(b.candidate_id, o.candidate_id) ORDER BY p.method),
		   CASE WHEN m.candidate_seconds > 0 THEN (SELECT l.seconds FROM
			cudal1.light(t, m.device_model) AS l) / m.candidate_seconds END
	FROM cudal1.best_over(method, device, tasks, pool, baseline) AS b
		JOIN cudal1.task AS t ON t.task_id = b.task_id
		LEFT JOIN cudal1.measurement AS m ON m.measurement_id = b.measurement_id
		LEFT JOIN LATERAL (
			-- failed candidates before those that wait, the latest first
			SELECT c.candidate_id, k.state, k.failure, k.detail
			FROM cudal1.candidate AS c
				LEFT JOIN LATERAL (
					SELECT x.outcome, x.detail FROM cudal1.measurement AS x
					WHERE x.candidate_id = c.candidate_id AND x.kind = 'evaluate' AND x.reward = 0
						AND x.device_model = coalesce(model, t.device_model, x.device_model)
					ORDER BY x.measurement_id DESC LIMIT 1) AS e ON c.state = 'successful'
				LEFT JOIN cudal1.imported_score AS i
					ON i.candidate_id = c.candidate_id AND i.device = model
				-- whether the candidate's own verdict is one of the device asked for, or undoes
				-- what it had there; if not, an evaluation or an imported failure may be one
				CROSS JOIN LATERAL (SELECT model IS NULL
					OR CASE WHEN c.imported THEN c.import_device
						ELSE coalesce(t.device_model, t.device) END = model
					OR i.device IS NOT NULL AND cudal1.fails_everywhere(c.failure)
					OR c.state = 'failed' AND EXISTS (SELECT FROM cudal1.measurement AS x
						WHERE x.candidate_id = c.candidate_id AND x.kind = 'evaluate'
							AND x.reward IS NOT NULL AND x.device_model = model)
						AS is_own) AS v
				CROSS JOIN LATERAL (SELECT
					CASE WHEN e.outcome IS NULL AND v.is_own THEN c.state
						ELSE 'failed' END AS state,
					coalesce(e.outcome, CASE WHEN v.is_own THEN c.failure ELSE 'reported' END)
						AS failure,
					CASE WHEN e.outcome IS NOT NULL THEN e.detail
						WHEN v.is_own THEN c.detail END AS detail) AS k
			WHERE b.speedup IS NULL AND c.task_id = t.task_id
				AND c.purpose IN ('normal', 'withheld')
				AND k.state <> 'successful' AND (v.is_own OR e.outcome IS NOT NULL OR i.reward = 0)
				AND (num_nulls(cudal1_task_report.method, only_pool) = 2
					 OR EXISTS (SELECT FROM cudal1.proposals_of(c.candidate_id,
						cudal1_task_report.method, only_pool)))
			ORDER BY array_position('{failed,verifying,measuring,queued,discarded}', k.state),
				c.candidate_id DESC
			LIMIT 1) AS o ON true
	ORDER BY t.level NULLS LAST, t.problem NULLS LAST, t.name;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_task_report(text, text, text[], text, text) IS
'every task, with its best successful candidate by the method (NULL: any) on the device (NULL: the
task''s own) as cudal1_speedup_report() counts it: reward, the interval of the measurement it rests
on (NULL: imported), methods that proposed the code; wide: the reward is an end of that interval;
evaluated: it is an evaluation; of_light: the seconds of cudal1_light() over the candidate''s. A
task without one has the state of its last failed candidate, or else of one that waits or was
discarded, with failure and detail, and untried where there is none. Other arguments and errors as
in cudal1_speedup_report()';
