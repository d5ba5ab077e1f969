/*
 * Reports that ask for figures of one's own choice, and the list of all tasks.
 */

CREATE FUNCTION cudal1.counted_speedups(method text, device text, missing text, tasks text[])
RETURNS TABLE (level text, place bigint, speedup float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	PERFORM cudal1.check_report(counted_speedups.method, counted_speedups.device, counted_speedups.missing);
	RETURN QUERY
	SELECT g.label, g.place,
		   coalesce(b.speedup, CASE counted_speedups.missing WHEN 'zero' THEN 0 WHEN 'one' THEN 1 END)
	FROM cudal1.best_speedups(counted_speedups.method, counted_speedups.device, cudal1.choose_tasks(counted_speedups.tasks)) AS b
		CROSS JOIN LATERAL (VALUES (coalesce(b.level::text, 'none'), coalesce(b.level, 2147483647)::bigint),
								   ('All', 2147483648)) AS g (label, place);
	IF NOT FOUND THEN
		RETURN QUERY VALUES ('All', 2147483648, NULL::float8);
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.counted_speedups(text, text, text, text[]) IS
'what each task counts with, once in its level and once in All; NULL where a task without success is dropped';

CREATE FUNCTION @extschema@.cudal1_percentiles(method text DEFAULT NULL, fractions float8[] DEFAULT '{0.1,0.25,0.5,0.75,0.9}',
	device text DEFAULT NULL, missing text DEFAULT 'zero', tasks text[] DEFAULT NULL)
RETURNS TABLE (level text, fraction float8, speedup float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF (SELECT bool_and(coalesce(f >= 0 AND f <= 1, false)) FROM unnest(fractions) AS f) IS NOT TRUE THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'argument "fractions" must hold numbers between 0 and 1',
			HINT = 'For instance {0.1,0.5,0.9}.';
	END IF;
	RETURN QUERY
	SELECT g.level, f.fraction, cudal1.conservative_round(f.speedup)
	FROM (SELECT c.level, c.place, percentile_cont(fractions) WITHIN GROUP (ORDER BY c.speedup) AS speedups
		  FROM cudal1.counted_speedups(cudal1_percentiles.method, cudal1_percentiles.device, cudal1_percentiles.missing,
									   cudal1_percentiles.tasks) AS c
		  GROUP BY c.level, c.place) AS g
		CROSS JOIN LATERAL unnest(fractions, g.speedups) WITH ORDINALITY AS f (fraction, speedup, n)
	ORDER BY g.place, f.n;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_percentiles(text, float8[], text, text, text[]) IS
'percentiles of the tasks'' speedups, at each of the fractions (0 to 1, linear between two tasks), for each level and All; rounded as rewards are, NULL where no task counts. method, device, missing and tasks as in cudal1_speedup_report(). Errors: 22023 bad fractions or missing, 42704 unknown method, device or task';

CREATE FUNCTION cudal1.fast_p(method text, thresholds float8[], device text, missing text, tasks text[])
RETURNS TABLE (level text, p float8, share float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF (SELECT bool_and(coalesce(x >= 0 AND x < 'infinity', false)) FROM unnest(thresholds) AS x) IS NOT TRUE THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'argument "p" must hold speedups', HINT = 'For instance {1,1.5,2}.';
	END IF;
	RETURN QUERY
	SELECT c.level, x.p, count(*) FILTER (WHERE c.speedup > x.p)::float8 / nullif(count(c.speedup), 0)
	FROM cudal1.counted_speedups(fast_p.method, fast_p.device, fast_p.missing, fast_p.tasks) AS c
		CROSS JOIN unnest(thresholds) WITH ORDINALITY AS x (p, n)
	GROUP BY c.level, c.place, x.p, x.n
	ORDER BY c.place, x.n;
END
$$;
COMMENT ON FUNCTION cudal1.fast_p(text, float8[], text, text, text[]) IS 'what cudal1_fast_p() does';

CREATE FUNCTION @extschema@.cudal1_fast_p(method text DEFAULT NULL, p float8[] DEFAULT '{1,1.5,2}', device text DEFAULT NULL,
	missing text DEFAULT 'zero', tasks text[] DEFAULT NULL)
RETURNS TABLE (level text, p float8, share float8)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT r.* FROM cudal1.fast_p(method, cudal1_fast_p.p, device, missing, tasks) AS r;
END;
COMMENT ON FUNCTION @extschema@.cudal1_fast_p(text, float8[], text, text, text[]) IS
'KernelBench''s fast_p: the share (0 to 1) of tasks whose speedup is above p, for each p, level and All; NULL where no task counts. method, device, missing and tasks as in cudal1_speedup_report(). Errors: 22023 bad p or missing, 42704 unknown method, device or task';

CREATE FUNCTION @extschema@.cudal1_task_report(method text DEFAULT NULL, device text DEFAULT NULL, tasks text[] DEFAULT NULL)
RETURNS TABLE (task text, level int, state text, reward float8, lower float8, upper float8, failure text, candidate_id bigint,
			   detail text, wide boolean, evaluated boolean, methods text[])
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	model	constant text := CASE WHEN cudal1_task_report.device NOT IN ('cpu', 'cuda') THEN cudal1_task_report.device END;
BEGIN
	PERFORM cudal1.check_report(cudal1_task_report.method, cudal1_task_report.device);
	RETURN QUERY
	SELECT t.name, t.level, coalesce(CASE WHEN b.speedup > 0 THEN 'successful' END, o.state, 'untried'),
		   coalesce(b.speedup, CASE WHEN o.state = 'failed' THEN 0 END), m.lower, m.upper, o.failure, coalesce(b.candidate_id, o.candidate_id),
		   o.detail, coalesce(m.wide, false), coalesce(b.evaluated, false),
		   ARRAY(SELECT DISTINCT p.method FROM cudal1.proposal AS p WHERE p.candidate_id = coalesce(b.candidate_id, o.candidate_id) ORDER BY p.method)
	FROM cudal1.best_speedups(cudal1_task_report.method, cudal1_task_report.device, cudal1.choose_tasks(cudal1_task_report.tasks)) AS b
		JOIN cudal1.task AS t ON t.task_id = b.task_id
		LEFT JOIN cudal1.measurement AS m ON m.measurement_id = cudal1.speaking_measurement(b.candidate_id, b.speedup, b.evaluated)
		LEFT JOIN LATERAL (
			-- one that failed says more than one that waits, the last one more than those before
			SELECT c.candidate_id, k.state, coalesce(e.outcome, c.failure) AS failure,
				   CASE WHEN e.outcome IS NULL THEN c.detail ELSE e.detail END AS detail
			FROM cudal1.candidate AS c
				LEFT JOIN LATERAL (
					SELECT x.outcome, x.detail FROM cudal1.measurement AS x
					WHERE x.candidate_id = c.candidate_id AND x.kind = 'evaluate' AND x.reward = 0
						AND x.device_model = coalesce(model, t.device_model, x.device_model)
					ORDER BY x.measurement_id DESC LIMIT 1) AS e ON c.state = 'successful'
				CROSS JOIN LATERAL (SELECT CASE WHEN e.outcome IS NULL THEN c.state ELSE 'failed' END AS state) AS k
			WHERE b.speedup IS NULL AND c.task_id = t.task_id AND c.purpose IN ('normal', 'withheld')
				AND k.state <> 'successful'
				AND (model IS NULL OR e.outcome IS NOT NULL
					 OR CASE WHEN c.imported THEN c.import_device ELSE coalesce(t.device_model, t.device) END = model)
				AND (cudal1_task_report.method IS NULL
					 OR EXISTS (SELECT FROM cudal1.proposal AS p WHERE p.candidate_id = c.candidate_id AND p.method = cudal1_task_report.method))
			ORDER BY array_position('{failed,verifying,measuring,queued,discarded}', k.state),
				c.candidate_id DESC
			LIMIT 1) AS o ON true
	ORDER BY t.level NULLS LAST, t.problem NULLS LAST, t.name;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_task_report(text, text, text[]) IS
'every task, with its best successful candidate by the method (NULL: any) on the device (NULL: the task''s own) as cudal1_speedup_report() counts it: reward, the interval of the measurement it rests on (NULL: imported), methods that proposed the code; wide: the reward is an end of that interval; evaluated: it is an evaluation. A task without one has the state of its last failed candidate, or else of one that waits or was discarded, with failure and detail, and untried where there is none. Reads the candidates of tasks without success. tasks as in cudal1_speedup_report(). Error 42704: unknown method, device or task';
