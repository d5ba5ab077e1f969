/*
 * Reports: the columns of the paper's tables 4 to 7.
 *
 * The reward that chose the best of many candidates is biased upwards: among equals the luckiest measurement wins.  So where
 * any of a task's candidates has been evaluated (a measurement of its own, after the choice), evaluations alone speak for
 * that task; where none has, its best reward does, and a NOTICE says so.
 *
 * A report costs tasks, evaluations and imports, not candidates: the best reward of a task is the head of an index.
 */

CREATE FUNCTION cudal1.best_reward(task_id bigint, method text, OUT candidate_id bigint, OUT reward float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
#variable_conflict use_column
BEGIN
	SELECT b.candidate_id, b.reward INTO candidate_id, reward
		FROM (SELECT c.candidate_id, c.reward FROM cudal1.candidate AS c
				WHERE c.task_id = best_reward.task_id AND c.state = 'successful' AND c.purpose = 'normal' AND NOT c.imported
				ORDER BY c.reward DESC, c.candidate_id LIMIT 1000) AS b
		WHERE best_reward.method IS NULL
			-- OFFSET 0: asked row by row until one is found, not joined to all that the method proposed
			OR EXISTS (SELECT FROM cudal1.proposal AS p WHERE p.candidate_id = b.candidate_id AND p.method = best_reward.method OFFSET 0)
		ORDER BY b.reward DESC, b.candidate_id LIMIT 1;
	IF FOUND OR best_reward.method IS NULL THEN
		RETURN;
	END IF;
	-- a method that is not among the best: by its own proposals
	SELECT c.candidate_id, c.reward INTO candidate_id, reward
		FROM cudal1.proposal AS p JOIN cudal1.candidate AS c ON c.candidate_id = p.candidate_id
		WHERE p.task_id = best_reward.task_id AND p.method = best_reward.method
			AND c.state = 'successful' AND c.purpose = 'normal' AND NOT c.imported
		ORDER BY c.reward DESC, c.candidate_id LIMIT 1;
END
$$;
COMMENT ON FUNCTION cudal1.best_reward(bigint, text) IS
'the best candidate of a task that was measured here, by a method (NULL: any), and its reward; NULL where there is none. Reads one row, with a method up to 1000 of the best, then those the method proposed';

CREATE FUNCTION cudal1.choose_tasks(tasks text[])
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	wanted	text;
	fits	bigint[];
	ids		bigint[];
BEGIN
	FOREACH wanted IN ARRAY coalesce(tasks, '{}') LOOP
		IF wanted IS NULL THEN
			RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'argument "tasks" must not contain nulls';
		END IF;
		-- a name stands for its task alone, also where it would do as a pattern
		fits := ARRAY(SELECT (cudal1.find_task(t.name)).task_id FROM cudal1.task AS t WHERE t.name = wanted);
		IF fits = '{}' AND (length(wanted) - length(rtrim(wanted, '\'))) % 2 = 1 THEN
			RAISE EXCEPTION USING ERRCODE = '22025', MESSAGE = 'a pattern of argument "tasks" must not end with a backslash';
		ELSIF fits = '{}' THEN
			fits := ARRAY(SELECT t.task_id FROM cudal1.task AS t WHERE t.name LIKE wanted AND t.retired_at IS NULL);
		END IF;
		IF fits = '{}' THEN
			PERFORM cudal1.does_not_exist('task', wanted, ARRAY(SELECT t.name FROM cudal1.task AS t ORDER BY t.name),
				'tasks are names or LIKE patterns.');
		END IF;
		ids := ids || fits;
	END LOOP;
	RETURN CASE WHEN tasks IS NOT NULL THEN coalesce(ids, '{}') END;
END
$$;
COMMENT ON FUNCTION cudal1.choose_tasks(text[]) IS
'the ids of tasks by names or LIKE patterns; NULL for NULL, which is all. Errors: 42704 one that fits no task, 22004 nulls, 22025 a pattern that ends with a backslash';

CREATE FUNCTION cudal1.best_speedups(method text, device text, task_ids bigint[] DEFAULT NULL)
RETURNS TABLE (task_id bigint, level int, candidate_id bigint, speedup float8, evaluated boolean)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
-- jit: what is switched off looks dear where it can't be avoided, and would be compiled for it
SET enable_seqscan = off SET jit = off
BEGIN ATOMIC
	WITH asked AS (
		-- what was asked for: a class, a model, or nothing
		SELECT best_speedups.device AS name, best_speedups.device IN ('cpu', 'cuda') AS is_class,
			   CASE WHEN best_speedups.device IN ('cpu', 'cuda') THEN best_speedups.device
					ELSE (SELECT d.class FROM cudal1.device AS d WHERE d.model = best_speedups.device
						  ORDER BY d.device_id LIMIT 1) END AS class
	), tasks AS (
		SELECT t.task_id, t.level, t.device_model
		FROM cudal1.task AS t
		CROSS JOIN asked AS a
		CROSS JOIN LATERAL (
			SELECT CASE WHEN t.device IN ('cpu', 'cuda') THEN t.device
						WHEN t.language IN ('c', 'cuda') THEN CASE WHEN t.language = 'c' THEN 'cpu' ELSE 'cuda' END
						ELSE (SELECT d.class FROM cudal1.device AS d WHERE d.model = t.device
							  ORDER BY d.device_id LIMIT 1) END AS class) AS k
		WHERE (a.name IS NULL OR a.class IS NULL OR k.class IS NULL OR k.class = a.class)
			AND t.retired_at IS NULL
			AND (best_speedups.task_ids IS NULL OR t.task_id = ANY (best_speedups.task_ids))
	), evaluations AS (
		-- the last word on a candidate and a model; a failure there (reward 0) is one
		SELECT DISTINCT ON (m.candidate_id) m.task_id, m.candidate_id, m.reward AS speedup
		FROM cudal1.measurement AS m
		CROSS JOIN asked AS a
		JOIN tasks AS t ON t.task_id = m.task_id
		JOIN cudal1.candidate AS c ON c.candidate_id = m.candidate_id
		WHERE m.kind = 'evaluate' AND m.reward IS NOT NULL AND c.purpose = 'normal' AND c.failure IS DISTINCT FROM 'withdrawn'
			AND m.device_model = CASE WHEN a.name IS NULL OR a.is_class THEN COALESCE(t.device_model, m.device_model)
									  ELSE a.name END
			AND (best_speedups.method IS NULL
				 OR EXISTS (SELECT FROM cudal1.proposal AS p
							WHERE p.candidate_id = c.candidate_id AND p.method = best_speedups.method))
		ORDER BY m.candidate_id, m.measurement_id DESC
	), imports AS MATERIALIZED (
		SELECT c.task_id, c.candidate_id, c.reward, c.import_device FROM cudal1.candidate AS c
		WHERE c.imported AND c.state = 'successful' AND c.purpose IN ('normal', 'withheld')
			AND (best_speedups.method IS NULL
				 OR EXISTS (SELECT FROM cudal1.proposal AS p
							WHERE p.candidate_id = c.candidate_id AND p.method = best_speedups.method))
	), unevaluated AS (
		SELECT t.task_id, t.device_model FROM tasks AS t
		WHERE NOT EXISTS (SELECT FROM evaluations AS e WHERE e.task_id = t.task_id)
	), rewards AS (
		-- measured here, which is on one model for each task
		SELECT t.task_id, b.candidate_id, b.reward AS speedup
		FROM unevaluated AS t
		CROSS JOIN asked AS a
		CROSS JOIN LATERAL cudal1.best_reward(t.task_id, best_speedups.method) AS b
		WHERE b.reward IS NOT NULL AND (a.name IS NULL OR a.is_class OR t.device_model = a.name)
		UNION ALL
		-- imported as a reward
		SELECT t.task_id, c.candidate_id, c.reward
		FROM unevaluated AS t
		CROSS JOIN asked AS a
		JOIN imports AS c ON c.task_id = t.task_id
		WHERE a.name IS NULL OR a.is_class OR c.import_device = a.name
		UNION ALL
		-- the same code with its score on another device than the one its reward is from
		SELECT t.task_id, c.candidate_id, i.reward
		FROM asked AS a
		JOIN cudal1.imported_score AS i ON i.device = a.name
		JOIN cudal1.candidate AS c ON c.candidate_id = i.candidate_id
		JOIN unevaluated AS t ON t.task_id = c.task_id
		LEFT JOIN cudal1.measurement AS m ON m.measurement_id = c.measurement_id
		WHERE i.reward > 0 AND NOT a.is_class AND c.purpose IN ('normal', 'withheld') AND c.failure IS DISTINCT FROM 'withdrawn'
			AND COALESCE(m.device_model, c.import_device) IS DISTINCT FROM a.name
			AND (best_speedups.method IS NULL
				 OR EXISTS (SELECT FROM cudal1.proposal AS p
							WHERE p.candidate_id = c.candidate_id AND p.method = best_speedups.method))
	)
	SELECT DISTINCT ON (t.task_id) t.task_id, t.level, b.candidate_id, b.speedup, b.evaluated
	FROM tasks AS t
	LEFT JOIN (SELECT e.task_id, e.candidate_id, e.speedup, true AS evaluated FROM evaluations AS e WHERE e.speedup > 0
			   UNION ALL
			   SELECT w.task_id, w.candidate_id, w.speedup, false FROM rewards AS w) AS b ON b.task_id = t.task_id
	ORDER BY t.task_id, b.speedup DESC NULLS LAST, b.candidate_id;
END;
COMMENT ON FUNCTION cudal1.best_speedups(text, text, bigint[]) IS
'the best successful candidate of each task that is not retired by a method (NULL: any) on a device class or model (NULL: each task''s own), one row a task; speedup NULL where none succeeded; evaluated tells evaluations from training rewards. With a device, tasks of another class are left out; task_ids (NULL: all) chooses among the rest';

CREATE FUNCTION cudal1.check_report(method text, device text, missing text DEFAULT 'zero')
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF check_report.missing IS NULL OR check_report.missing NOT IN ('zero', 'one', 'drop') THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'argument "missing" must be "zero", "one" or "drop"';
	END IF;
	IF check_report.device NOT IN ('cpu', 'cuda')
		AND NOT EXISTS (SELECT FROM cudal1.device AS d WHERE d.model = check_report.device)
		AND NOT EXISTS (SELECT FROM cudal1.imported_score AS i WHERE i.device = check_report.device)
		AND NOT EXISTS (SELECT FROM cudal1.candidate AS c WHERE c.imported AND c.import_device = check_report.device)
		AND NOT EXISTS (SELECT FROM cudal1.task AS t WHERE t.device = check_report.device)
	THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_object',
			MESSAGE = format('device "%s" is not known', check_report.device),
			HINT = 'Name a class (cpu, cuda), or a model in cudal1.device or of an imported result.';
	END IF;
	IF check_report.method IS NOT NULL
		AND NOT EXISTS (SELECT FROM cudal1.proposal AS p WHERE p.method = check_report.method)
	THEN
		-- a name that is taken, or shipped, may be proposed by yet
		IF NOT EXISTS (SELECT FROM cudal1.method AS m WHERE m.name = check_report.method) THEN
			PERFORM cudal1.does_not_exist('method', check_report.method, ARRAY(SELECT m.name FROM cudal1.method AS m ORDER BY m.name),
				'cudal1.stat_method lists the methods with proposals.');
		END IF;
		RAISE NOTICE 'nothing was proposed by method "%"', check_report.method;
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.check_report(text, text, text) IS
'arguments that reports share: error 22023 for a bad missing, 42704 for an unknown device or method, a NOTICE for a method without proposals';

CREATE FUNCTION cudal1.speedup_report(method text, device text, missing text, chosen text[])
RETURNS TABLE (level text, tasks bigint, mean float8, max float8, p75 float8, p50 float8, p25 float8, success bigint,
			   speedup bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	trained bigint;
BEGIN
	FOR level, tasks, mean, max, p75, p50, p25, success, speedup, trained IN
		SELECT r.level, r.tasks, r.mean, r.max, r.p75, r.p50, r.p25, r.success, r.speedup, r.success - r.evaluated
		FROM cudal1.level_report(speedup_report.method, speedup_report.device, speedup_report.missing, false, 0.1, 1, false, chosen) AS r
	LOOP
		RETURN NEXT;
	END LOOP;
	-- of the last row, All
	IF trained > 0 THEN
		RAISE NOTICE USING
			MESSAGE = format('training rewards are shown for %s task(s)', trained),
			DETAIL = 'The best of many training rewards is biased upwards; evaluations replace them where there are any.';
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.speedup_report(text, text, text, text[]) IS 'what cudal1_speedup_report() does';

CREATE FUNCTION @extschema@.cudal1_speedup_report(method text DEFAULT NULL, device text DEFAULT NULL, missing text DEFAULT 'zero',
	tasks text[] DEFAULT NULL)
RETURNS TABLE (level text, tasks bigint, mean float8, max float8, p75 float8, p50 float8, p25 float8, success bigint,
			   speedup bigint)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT r.* FROM cudal1.speedup_report(method, device, missing, cudal1_speedup_report.tasks) AS r;
END;
COMMENT ON FUNCTION @extschema@.cudal1_speedup_report(text, text, text, text[]) IS
'the columns of CUDA-L1''s tables 4 to 7: one row a level, ''none'' for tasks without one, and ''All''. Each task counts with its best successful candidate by the method (of a proposal; NULL: any) on the device (class or model; NULL: the task''s own). missing: zero (a task without success counts 0, the paper''s way), one (counts 1.00), drop (is left out of tasks, mean and percentiles). tasks = all of the level, attempted or not, on devices of the class asked for; percentiles are linear; success = tasks with a successful candidate; speedup = those above 1.00. Imported results count; null, certification and ablation candidates do not. Evaluations are preferred where a task has any; a NOTICE counts the tasks that show training rewards. tasks: names or LIKE patterns of the tasks that count (NULL: all). Errors: 22023 bad missing, 42704 unknown method, device or task';
