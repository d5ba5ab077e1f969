/*
 * Whether devices can be trusted, and whether scores hold.
 *
 * A/A measurements have a known answer, 1. Each device has a control chart of theirs: an exponentially weighted mean (weight
 * 0.25) of ln score in units of the profile's half_width_limit, each value cut at 1.2. Its limit 0.378 = sqrt(0.25 / 1.75)
 * is where the mean of independent values leaves the spread that the profile allows a single one. One outlier, however large,
 * stays below it; two that agree do not. A wide one counts by its score, the end nearer to 1: a host that is merely busy drifts nowhere.
 */

CREATE VIEW cudal1.aa_chart AS
	SELECT w.device_id, w.device_key AS device, w.measurement_id, w.measured_at, w.task, w.profile, w.outcome, w.score,
		   w.half_width_limit AS "limit", w.deviation, e.mean, 0.378::float8 AS mean_limit
	FROM (SELECT n.*, pg_catalog.array_agg(n.deviation) OVER
				(PARTITION BY n.device_id ORDER BY n.measurement_id ROWS BETWEEN 29 PRECEDING AND CURRENT ROW) AS deviations
	FROM (SELECT d.device_id, d.device_key, m.measurement_id, m.measured_at, t.name AS task, m.profile, m.outcome, m.score,
				 COALESCE(p.half_width_limit, 0.01) AS half_width_limit,
				 CASE WHEN m.score > 0
					  THEN GREATEST(-1.2, LEAST(1.2, pg_catalog.ln(m.score) / COALESCE(p.half_width_limit, 0.01)))
					  ELSE -1.2 END AS deviation
		  FROM cudal1.aa_candidate AS k
			JOIN cudal1.measurement AS m ON m.candidate_id = k.candidate_id
			JOIN cudal1.device AS d ON d.device_id = m.device_id
			JOIN cudal1.task AS t ON t.task_id = k.task_id
			JOIN cudal1.profile AS p ON p.name = m.profile
		  WHERE m.outcome <> ALL (ARRAY['lost', 'cancelled', 'unverified'])
			AND (d.chart_from IS NULL OR m.measured_at >= d.chart_from)) AS n) AS w
		CROSS JOIN LATERAL (
			-- older ones weigh less than 0.0002
			SELECT pg_catalog.sum(0.25 * (0.75 ^ (pg_catalog.cardinality(w.deviations) - x.place)) * x.deviation) AS mean
			FROM pg_catalog.unnest(w.deviations) WITH ORDINALITY AS x (deviation, place)) AS e;
COMMENT ON VIEW cudal1.aa_chart IS 'A/A measurements of each device as a control chart; a device is not trusted while the size of its last mean exceeds mean_limit';
COMMENT ON COLUMN cudal1.aa_chart."limit" IS 'the half-width that the profile allows a single measurement (0.01 where it has no limit)';
COMMENT ON COLUMN cudal1.aa_chart.deviation IS 'ln score over limit, cut at -1.2 and 1.2; -1.2 where the reference failed against itself';
COMMENT ON COLUMN cudal1.aa_chart.mean IS 'exponentially weighted mean of the deviations up to this one';

CREATE FUNCTION cudal1.judge_device(device_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	d		record;
	n		record;
BEGIN
	SELECT x.device_key, x.untrusted_since INTO d FROM cudal1.device AS x WHERE x.device_id = judge_device.device_id;
	SELECT x.mean, x.mean_limit INTO n FROM cudal1.aa_chart AS x
		WHERE x.device_id = judge_device.device_id ORDER BY x.measurement_id DESC LIMIT 1;
	IF abs(n.mean) > n.mean_limit AND d.untrusted_since IS NULL THEN
		UPDATE cudal1.device AS x SET untrusted_since = clock_timestamp() WHERE x.device_id = judge_device.device_id;
		RAISE WARNING USING MESSAGE = format('A/A measurements of device "%s" drift, nothing else is measured on it', d.device_key),
			DETAIL = format('Their weighted mean is %s, its limit %s (cudal1.aa_chart).', round(n.mean::numeric, 3), n.mean_limit),
			HINT = 'It is trusted again when they are back; cudal1_trust_device() begins a new chart.';
	ELSIF coalesce(abs(n.mean), 0) <= coalesce(n.mean_limit, 0) AND d.untrusted_since IS NOT NULL THEN
		UPDATE cudal1.device AS x SET untrusted_since = NULL WHERE x.device_id = judge_device.device_id;
		PERFORM cudal1.wake();
		RAISE LOG 'A/A measurements of device "%" are back, it is trusted again', d.device_key;
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.judge_device(bigint) IS 'trusts a device, or not, by the last point of its control chart; warns when it does so no longer';

CREATE FUNCTION cudal1.aa_code(t cudal1.task)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT t.reference || CASE t.language WHEN 'pytorch' THEN E'\n\n\n# the reference as its own candidate\nclass ModelNew(Model):\n    pass\n'
										  ELSE E'\n/* the reference as its own candidate */\n' END;
END;
COMMENT ON FUNCTION cudal1.aa_code(cudal1.task) IS 'the reference of a task as a candidate, its own code but for a comment';

CREATE FUNCTION @extschema@.cudal1_measure_aa(task text DEFAULT NULL, device_key text DEFAULT NULL, priority int DEFAULT 1000)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	d		cudal1.device;
	t		cudal1.task;
	id		bigint;
	n		bigint := 0;
	added	bigint;
BEGIN
	IF cudal1_measure_aa.priority IS NULL OR cudal1_measure_aa.priority NOT BETWEEN -1000000000 AND 1000000000 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'priority must lie between -1000000000 and 1000000000';
	END IF;
	IF cudal1_measure_aa.task IS NOT NULL THEN
		PERFORM cudal1.find_task(cudal1_measure_aa.task);
	END IF;
	IF cudal1_measure_aa.device_key IS NOT NULL
		AND NOT EXISTS (SELECT FROM cudal1.device AS x WHERE x.device_key = cudal1_measure_aa.device_key) THEN
		PERFORM cudal1.does_not_exist('device', cudal1_measure_aa.device_key, ARRAY(SELECT x.device_key FROM cudal1.device AS x ORDER BY x.device_key),
			'cudal1.device lists the devices.');
	END IF;
	FOR d IN
		SELECT x.* FROM cudal1.device AS x
			WHERE x.enabled AND x.device_key = coalesce(cudal1_measure_aa.device_key, x.device_key) ORDER BY x.device_id
	LOOP
		-- the same task again, so that the points of a chart can be compared
		SELECT x.* INTO t
			FROM cudal1.task AS x LEFT JOIN cudal1.aa_candidate AS k ON k.task_id = x.task_id
			WHERE x.name = coalesce(cudal1_measure_aa.task, x.name) AND x.retired_at IS NULL
				AND x.language = ANY (d.languages) AND x.cores <= d.cores
				AND coalesce(x.device_model, d.model) = d.model AND (x.device IN (d.class, d.model))
			ORDER BY k.candidate_id NULLS LAST, x.task_id
			LIMIT 1;
		CONTINUE WHEN NOT FOUND;
		SELECT k.candidate_id INTO id FROM cudal1.aa_candidate AS k WHERE k.task_id = t.task_id;
		IF NOT FOUND THEN
			id := cudal1.accept_submission(t, cudal1.aa_code(t), 'a/a', NULL, NULL, NULL, cudal1_measure_aa.priority, NULL, NULL, NULL,
										   'null', cudal1.caller());
			INSERT INTO cudal1.aa_candidate (task_id, candidate_id) VALUES (t.task_id, id) ON CONFLICT DO NOTHING;
		END IF;
		INSERT INTO cudal1.job (kind, task_id, candidate_id, profile, device, cores, language, priority)
			VALUES ('evaluate', t.task_id, id, t.profile, d.device_key, t.cores, t.language, cudal1_measure_aa.priority)
			ON CONFLICT DO NOTHING;
		GET DIAGNOSTICS added = ROW_COUNT;
		n := n + added;
	END LOOP;
	IF n > 0 THEN
		PERFORM cudal1.wake();
	END IF;
	RETURN n;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_measure_aa(text, text, int) IS
'queues an A/A measurement, a task''s reference against itself, on every enabled device, or on one; task NULL: the one measured so before, else the first that the device can measure. Returns the jobs queued; what waits already is not queued again. The points go into cudal1.aa_chart; a device whose chart drifts measures nothing else. For cron. Errors: 42704 unknown task or device';

CREATE FUNCTION @extschema@.cudal1_trust_device(device_key text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF cudal1_trust_device.device_key IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'device_key must not be null';
	END IF;
	UPDATE cudal1.device AS d SET untrusted_since = NULL, chart_from = clock_timestamp()
		WHERE d.device_key = cudal1_trust_device.device_key;
	IF NOT FOUND THEN
		PERFORM cudal1.does_not_exist('device', cudal1_trust_device.device_key, ARRAY(SELECT x.device_key FROM cudal1.device AS x ORDER BY x.device_key),
			'cudal1.device lists the devices.');
	END IF;
	PERFORM cudal1.wake();
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_trust_device(text) IS
'an operator''s word that a device is mended: it is trusted again, and its control chart begins anew. Error 42704 for an unknown device';

CREATE VIEW cudal1.drift AS
	SELECT t.name AS task, h.candidate_id, h.measurement_id, h.measured_at, h.device_model AS device, h.profile, h.outcome,
		   h.previous_reward, h.reward, h.previous_score, h.score, h.score / NULLIF(h.previous_score, 0) - 1 AS change,
		   -- intervals that do not meet
		   CASE WHEN h.outcome = 'successful' THEN h.lower > h.previous_upper OR h.upper < h.previous_lower ELSE h.reward = 0 END AS changed,
		   h.measured_at - h.previous_at AS after,
		   NULLIF(pg_catalog.concat_ws(', ',
			   CASE WHEN h.environment ->> 'runner' IS DISTINCT FROM h.previous_environment ->> 'runner' THEN 'runner' END,
			   CASE WHEN h.environment ->> 'driver' IS DISTINCT FROM h.previous_environment ->> 'driver' THEN 'driver' END,
			   CASE WHEN h.device_id <> h.previous_device THEN 'device' END,
			   CASE WHEN h.profile <> h.previous_profile THEN 'profile' END), '') AS differs
	FROM (SELECT m.*, pg_catalog.lag(m.score) OVER w AS previous_score, pg_catalog.lag(m.reward) OVER w AS previous_reward,
				 pg_catalog.lag(m.lower) OVER w AS previous_lower, pg_catalog.lag(m.upper) OVER w AS previous_upper,
				 pg_catalog.lag(m.measured_at) OVER w AS previous_at, pg_catalog.lag(m.environment) OVER w AS previous_environment,
				 pg_catalog.lag(m.device_id) OVER w AS previous_device, pg_catalog.lag(m.profile) OVER w AS previous_profile
		  FROM cudal1.measurement AS m
		  WHERE m.accepted AND m.kind <> 'evaluate'
		  WINDOW w AS (PARTITION BY m.candidate_id ORDER BY m.measurement_id)) AS h
		JOIN cudal1.task AS t ON t.task_id = h.task_id
	WHERE h.kind = 'reverify' AND h.previous_at IS NOT NULL;
COMMENT ON VIEW cudal1.drift IS 'how scores held: one row for each re-verification that decided, beside the verdict before it';
COMMENT ON COLUMN cudal1.drift.change IS 'score over the score before, minus 1';
COMMENT ON COLUMN cudal1.drift.changed IS 'true where the intervals of the two measurements do not meet, or the candidate failed this time';
COMMENT ON COLUMN cudal1.drift.after IS 'time between the two';
COMMENT ON COLUMN cudal1.drift.differs IS 'what was not the same: runner, driver, device, profile; NULL: nothing known';
