/*
 * Counters of a profiler beside scores: one run of a candidate under perf or ncu, which explains a
 * score and changes none.
 */

CREATE TABLE cudal1.profiler_run (
	candidate_id		bigint PRIMARY KEY REFERENCES cudal1.candidate (candidate_id),
	device_id			bigint NOT NULL REFERENCES cudal1.device (device_id),
	tool				text,
	counters			jsonb,
	problem				text,
	measured_at			timestamptz NOT NULL DEFAULT now(),
	CHECK (num_nonnulls(counters, problem) = 1)
);
COMMENT ON TABLE cudal1.profiler_run IS
'the last run of a candidate under a profiler (cudal1_profile); cudal1_counters() has its counters
as rows';
COMMENT ON COLUMN cudal1.profiler_run.tool IS 'perf or ncu; NULL: neither could run';
COMMENT ON COLUMN cudal1.profiler_run.problem IS 'why there are no counters';

CREATE FUNCTION @extschema@.cudal1_profile(candidate bigint, priority int DEFAULT 0)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	c		cudal1.candidate;
	t		cudal1.task;
	id		bigint;
BEGIN
	PERFORM cudal1.demand_submission('-', '-', priority);
	PERFORM cudal1.check_candidates(ARRAY[candidate], 'candidate');
	SELECT x.* INTO STRICT c FROM cudal1.candidate AS x
		WHERE x.candidate_id = cudal1_profile.candidate;
	SELECT x.* INTO STRICT t FROM cudal1.task AS x WHERE x.task_id = c.task_id;
	PERFORM cudal1.raise_if(c.state IN ('failed', 'discarded') OR c.purpose = 'withheld', '55000',
		format('candidate %s is %s', candidate, CASE WHEN c.purpose = 'withheld'
			THEN 'a score without its code' ELSE c.state END),
		'Codes that are right are profiled.');
	PERFORM cudal1.raise_if(t.retired_at IS NOT NULL, '55000',
		format('task "%s" is retired', t.name));
	PERFORM cudal1.warn_no_device(t);
	id := cudal1.enqueue('profile', t, candidate, priority, cudal1.caller());
	PERFORM cudal1.wake();
	RETURN coalesce(id, (SELECT j.job_id FROM cudal1.job AS j
		WHERE j.candidate_id = cudal1_profile.candidate AND j.kind = 'profile'
		ORDER BY j.job_id LIMIT 1));
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_profile(bigint, int) IS
'queues one run of a candidate under its device''s profiler, ncu on a GPU and perf elsewhere, after
its measurement if that was successful, and returns the job_id; what waits already is not queued
again. cudal1_counters() has what came of it. Rewards stay as they are. Operators only. Errors:
42704 unknown candidate, 55000 it has failed or its task is retired';

CREATE FUNCTION cudal1.store_profile(j cudal1.job, result jsonb)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	told	constant jsonb := result #> '{evidence,profile}';
	good	constant boolean := coalesce(told ->> 'tool' IN ('perf', 'ncu')
		AND jsonb_typeof(told -> 'counters') = 'array', false)
		AND jsonb_array_length(told -> 'counters') BETWEEN 1 AND 100
		AND NOT EXISTS (SELECT FROM jsonb_array_elements(told -> 'counters') AS e
			WHERE NOT coalesce(cudal1.is_name(e ->> 'name', 100)
				AND cudal1.json_float(e -> 'value') IS NOT NULL
				AND octet_length(e ->> 'unit') <= 20, false));
BEGIN
	IF result ->> 'outcome' = 'cancelled' THEN
		PERFORM cudal1.retry_job(j, 'lost', NULL, 'its worker gave the run up');
		RETURN;
	END IF;
	DELETE FROM cudal1.job AS x WHERE x.job_id = j.job_id;
	INSERT INTO cudal1.profiler_run AS r (candidate_id, device_id, tool, counters, problem)
		SELECT j.candidate_id, j.device_id, CASE WHEN good THEN told ->> 'tool' END,
			CASE WHEN good THEN told -> 'counters' END, CASE WHEN NOT good
				THEN left(coalesce(result ->> 'detail', 'the result has no counters'), 2000) END
		ON CONFLICT (candidate_id) DO UPDATE
			SET device_id = excluded.device_id, tool = excluded.tool, counters = excluded.counters,
				problem = excluded.problem, measured_at = excluded.measured_at;
END
$$;
COMMENT ON FUNCTION cudal1.store_profile IS
'ends a job of kind profile: its counters, or the reason why there are none';

CREATE FUNCTION cudal1.counters(candidate bigint)
RETURNS TABLE (name text, value float8, unit text, tool text, device text, measured_at timestamptz)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
	SELECT e.name, e.value, e.unit, r.tool, d.device_key, r.measured_at
		FROM cudal1.profiler_run AS r JOIN cudal1.device AS d USING (device_id)
			JOIN cudal1.candidate AS c USING (candidate_id) JOIN cudal1.task AS t USING (task_id)
			LEFT JOIN cudal1.measurement AS m ON m.measurement_id = c.measurement_id
			CROSS JOIN LATERAL (
				SELECT x.value ->> 'name' AS name, cudal1.json_float(x.value -> 'value') AS value,
						x.value ->> 'unit' AS unit, x.ordinality AS place
					FROM jsonb_array_elements(r.counters) WITH ORDINALITY AS x
				UNION ALL
				SELECT 'share of light', 100 * l.seconds / m.candidate_seconds, '%', 1000
					FROM cudal1.light(t, m.device_model) AS l
					WHERE l.seconds / m.candidate_seconds IS NOT NULL) AS e
		WHERE r.candidate_id = counters.candidate AND r.counters IS NOT NULL
		ORDER BY e.place;
$$;
COMMENT ON FUNCTION cudal1.counters IS 'cudal1_counters() of a candidate that exists';

CREATE FUNCTION @extschema@.cudal1_counters(candidate bigint)
RETURNS TABLE (name text, value float8, unit text, tool text, device text, measured_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
AS $$
BEGIN
	PERFORM cudal1.check_candidates(ARRAY[candidate], 'candidate');
	RETURN QUERY SELECT k.* FROM cudal1.counters(candidate) AS k;
	IF NOT FOUND THEN
		RAISE NOTICE USING MESSAGE = format('candidate %s has no counters', candidate) || coalesce(
				(SELECT CASE WHEN EXISTS (SELECT FROM cudal1.job AS j
						WHERE j.candidate_id = cudal1_counters.candidate AND j.kind = 'profile')
					THEN ' yet' ELSE ': ' || (SELECT r.problem FROM cudal1.profiler_run AS r
						WHERE r.candidate_id = cudal1_counters.candidate) END), ''),
			HINT = format('An operator has them read by SELECT cudal1_profile(%s).', candidate);
	END IF;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_counters(bigint) IS
'what the profiler counted in the last run of cudal1_profile(), for one call, a row each; no row,
and a NOTICE with the reason, where there are none. Of perf: core time, cycles, instructions, misses
of branches, caches and the TLB, page faults, context switches, as far as the processor counts them.
Of ncu: kernels, GPU time, bytes, use of units, occupancy, cache hits, registers; of several
kernels, times and bytes are added and shares weighted by time. share of light is the time of
cudal1_light() over the measured one. Counters decide nothing. Error 42704: unknown candidate';
